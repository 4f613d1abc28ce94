/* SPDX-License-Identifier: Apache-2.0
 *
 * How programs end: the same number means the same in all of them. What it is about in one program stands in its table of
 * options (`ends` of options_program), from which --help and the man page have it.
 */
#ifndef NM_TOOL_COMMON_EXIT_STATUS_H
#define NM_TOOL_COMMON_EXIT_STATUS_H

typedef enum exit_code {
    EXIT_DONE = 0,     /* done; of a question: yes */
    EXIT_NO = 1,       /* failed, or the answer is no */
    EXIT_USAGE = 2,    /* wrong usage */
    EXIT_PARTIAL = 3,  /* done, but of a part: something was lost or missing */
    EXIT_UNUSABLE = 4, /* failed, where 1 is an answer: an input cannot be used */
    EXIT_UNJUDGED = 5, /* no answer: what was recorded does not tell */
    EXIT_CODE_COUNT
} exit_code;

#endif
