/* SPDX-License-Identifier: Apache-2.0
 *
 * Which groups a screen has, in order.
 */
#include "report/screen_groups.h"

nm_screen_group *const *nm_screen_groups_of(const nm_screen *s)
{
    static nm_screen_group *const few[] = {NULL};
    static nm_screen_group *const many[] = {nm_screen_many_lines, NULL};

    return s->holder_count > NM_SCREEN_PROCESSES_MAX ? many : few;
}
