/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to the process as a whole. _exit and _Exit run no exit handler: the process says its status to the recorder
 * and ends. A vfork child, which shares its parent's memory, says nothing (nm_record_exit sees to that). dlclose makes
 * addresses free for other code.
 */
#include <dlfcn.h>
#include <sys/syscall.h>

#include "hook/runtime.h"
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

__attribute__((visibility("default"))) int dlclose(void *library)
{
    int result;

    if (nm_real.dlclose == NULL)
        nm_runtime_find();
    if (nm_real.dlclose == NULL)
        return -1; /* a glibc before 2.34 without libdl: then nobody can have opened anything */
    result = nm_real.dlclose(library);
    nm_record_unload();
    return result;
}
