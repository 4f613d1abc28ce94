/* SPDX-License-Identifier: Apache-2.0 */
#include "support/machine.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/io.h"
#include "support/run.h"

static char folder[64];

static int open_below(const char *path, int flags, mode_t mode)
{
    char below[512];

    snprintf(below, sizeof below, "%s%s", folder, path);
    return open(below, flags, mode);
}

void machine_set_up(void)
{
    run_make_folder(folder);
    nm_io.open = open_below;
}

void machine_tear_down(void)
{
    run_remove_folder(folder);
}

void machine_lay(const char *line)
{
    char command[2048];

    snprintf(command, sizeof command, "cd %s && mkdir -p proc/7 proc/self sys/fs/cgroup && %s", folder, line);
    nm_run run = run_shell(command, 10);
    ck_assert_int_eq(run.exit_code, 0);
    run_free(&run);
}
