/* SPDX-License-Identifier: Apache-2.0
 *
 * What a state is called in a database, and in a line of English: one table for all programs. The screen has its own words, in
 * two languages.
 */
#include "drain/state.h"

#include <string.h>

static const struct {
    const char *word, *reason;
} states[] = {
    [NM_STATE_ENDED] = {"ended", NULL},
    [NM_STATE_RECOVERED] = {"recovered", NULL},
    [NM_STATE_RUNNING] = {"running", "still recording: figures so far"},
    [NM_STATE_KILLED] = {"killed", "its recorder was killed: figures so far"},
    [NM_STATE_CUT] = {"cut", "the recording was cut off before its end"},
    [NM_STATE_UNSEEN] = {"unseen", "its end is not here: cut off, or still recording elsewhere"},
    [NM_STATE_UNREADABLE] = {"unreadable", "its rings belong to another user: whether it still runs cannot be seen"},
};

const char *nm_state_word(nm_state state)
{
    return states[state].word;
}

const char *nm_state_reason(nm_state state)
{
    return states[state].reason;
}

const char *nm_state_reason_of(const char *word)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].word, word) == 0)
            return states[i].reason;
    return NULL;
}
