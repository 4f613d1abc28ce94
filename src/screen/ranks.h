/* SPDX-License-Identifier: Apache-2.0
 *
 * What the screen of many ranks says instead of one process's words: see screen_groups.h for its groups of lines.
 */
#ifndef NM_SCREEN_RANKS_H
#define NM_SCREEN_RANKS_H

#include "report/rank_list.h"
#include "screen/screen.h"

/* Several ranks, or more processes with memory than have a place each: they are shown together. */
bool nm_screen_is_ranked(const nm_screen *s);

/* Reads the list of ranks into the screen, once. */
nm_status nm_screen_read_ranks(nm_screen *s, nm_error *err);

/* Adds to the line how they ended, the first failure by name; whether any failed. */
nm_status nm_screen_say_ranks_end(nm_screen *s, bool *has_failed, nm_error *err);

/* The request that ended the first rank, as view out_of_memory numbers it; 0: none did, or it is not known which was first. */
int64_t nm_screen_first_out_of_memory(const nm_screen *s);

#endif
