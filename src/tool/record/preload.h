/* SPDX-License-Identifier: Apache-2.0
 *
 * The value of LD_PRELOAD, by which a program gets the recorder's library.
 */
#ifndef NM_TOOL_RECORD_PRELOAD_H
#define NM_TOOL_RECORD_PRELOAD_H

/* What LD_PRELOAD must be for `library` to be preloaded: the others, then ours, then those that are asked first where they
 * stand in front (interposer.h); an own one of before is gone. Owned by the caller; NULL: no memory. */
char *record_preload_value(const char *library);

#endif
