/* SPDX-License-Identifier: Apache-2.0
 *
 * Which groups of lines a screen has, and in which order: a few processes each have lines of their own, many ranks have a table.
 */
#include "screen/groups.h"

#include <stddef.h>

#include "screen/ranks.h"

nm_screen_group *const *nm_screen_groups_of(const nm_screen *s)
{
    static nm_screen_group *const few[] = {nm_screen_end_lines,    nm_screen_failure_lines,
                                           nm_screen_leak_lines,   nm_screen_misuse_lines,
                                           nm_screen_health_lines, nm_screen_peak_lines,
                                           nm_screen_fine_lines,   nm_screen_note_lines,
                                           nm_screen_next_lines,   NULL};
    static nm_screen_group *const many[] = {
        nm_screen_end_lines,    nm_screen_rank_end_lines,    nm_screen_failure_lines,     nm_screen_rank_leak_lines,
        nm_screen_misuse_lines, nm_screen_rank_health_lines, nm_screen_rank_uneven_lines, nm_screen_rank_table_lines,
        nm_screen_fine_lines,   nm_screen_note_lines,        nm_screen_next_lines,        NULL};

    return nm_screen_is_ranked(s) ? many : few;
}
