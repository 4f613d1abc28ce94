/* SPDX-License-Identifier: Apache-2.0
 *
 * The groups of lines of the screen, in the order in which they stand there. Each asks the views, and adds lines or none.
 */
#ifndef NM_SCREEN_GROUPS_H
#define NM_SCREEN_GROUPS_H

#include "screen/screen.h"

typedef nm_status nm_screen_group(nm_screen *s, nm_error *err);

/* The groups that this run has, NULL at the end: by process, or of more than NM_SCREEN_PROCESSES_MAX a table of all. */
nm_screen_group *const *nm_screen_groups_of(const nm_screen *s);

nm_screen_group nm_screen_end_lines;         /* what ran, how it ended, what is lost */
nm_screen_group nm_screen_failure_lines;     /* memory ran out: what, why, held by what, by whom, what to do */
nm_screen_group nm_screen_leak_lines;        /* sites that leak */
nm_screen_group nm_screen_misuse_lines;      /* calls that are wrong, whatever became of them */
nm_screen_group nm_screen_health_lines;      /* what is in danger, or not good */
nm_screen_group nm_screen_peak_lines;        /* the fullest moment of devices and pools */
nm_screen_group nm_screen_fine_lines;        /* what is fine, and what cannot be judged */
nm_screen_group nm_screen_note_lines;        /* what limits the answers */
nm_screen_group nm_screen_rank_end_lines;    /* of many ranks: which failed first, which followed, which are missing */
nm_screen_group nm_screen_rank_leak_lines;   /* sites that leak, over all ranks */
nm_screen_group nm_screen_rank_health_lines; /* what is in danger or not good, and on how many */
nm_screen_group nm_screen_rank_uneven_lines; /* ranks that hold more than others of their group */
nm_screen_group nm_screen_rank_table_lines; /* the fullest, the median and the first to fail; devices that are shared */
nm_screen_group nm_screen_next_lines;       /* the next command */

#endif
