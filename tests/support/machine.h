/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder in place of the machine's /proc and /sys: what opens a file by nm_io opens it there.
 */
#ifndef NM_TESTS_MACHINE_H
#define NM_TESTS_MACHINE_H

void machine_set_up(void); /* both are checked fixtures */
void machine_tear_down(void);

/* Runs the line of shell in that folder, which has sys/fs/cgroup, proc/self and proc/7. */
void machine_lay(const char *line);

#endif
