/* SPDX-License-Identifier: Apache-2.0
 *
 * How much of busy processors the drain gets. It is one thread beside all of the program's: where these fill rings on each
 * processor, its equal share is too small to take out what they put in, and events are dropped. While rings fill up it asks
 * the scheduler for more, which is granted to root, to CAP_SYS_NICE, and within RLIMIT_NICE; and gives it back.
 */
#ifndef NM_DRAIN_SHARE_H
#define NM_DRAIN_SHARE_H

#include <stdbool.h>

typedef struct nm_share { /* of the thread that calls; zeroed: as it began */
    int usual_niceness;   /* while is_raised */
    bool is_raised;
    bool is_refused; /* once, and not asked for again */
} nm_share;

/* The calling thread shall have more than its usual share, or its usual one. Costs a system call where that changes, and
 * keeps errno. Who forks or starts a thread meanwhile hands it on. */
void nm_share_set(nm_share *share, bool is_more);

#endif
