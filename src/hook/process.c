/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to the process as a whole. _exit and _Exit run no exit handler: the process says its status to the recorder
 * and ends. A vfork child, which shares its parent's memory, says nothing (nm_record_exit sees to that).
 */
#include <sys/syscall.h>

#include "record/machine.h"
#include "record/record.h"

__attribute__((visibility("default"), noreturn)) void _exit(int status);
__attribute__((visibility("default"), noreturn)) void _Exit(int status);

void _exit(int status)
{
    nm_record_exit(status);
    for (;;)
        nm_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

void _Exit(int status)
{
    _exit(status);
}
