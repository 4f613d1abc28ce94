/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel says it in /proc. Where that is not mounted, the name that the program was started by is left: it holds as long
 * as the program has changed neither its folder nor its root since.
 */
#include "base/own_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/door.h"

bool nm_own_path(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    const char *started = (const char *)getauxval(AT_EXECFN);

    if (length > 0) {
        path[length] = 0;
        return true;
    }
    if (started != NULL && strncmp(started, "/dev/fd/", 8) != 0 && nm_door_resolve(started, path))
        return true;
    path[0] = 0;
    return false;
}

bool nm_own_folder(char folder[PATH_MAX])
{
    bool is_known = nm_own_path(folder);
    char *slash = strrchr(folder, '/');

    if (slash != NULL)
        *slash = 0;
    return is_known && slash != NULL;
}

nm_status nm_own_beside(const char *name, char path[PATH_MAX], nm_error *err)
{
    char folder[PATH_MAX];

    if (!nm_own_folder(folder))
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET,
                       "/proc is not mounted: where this program lies, and so %s, cannot be known", name);
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX
               ? NM_OK
               : nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the path of %s is too long", name);
}
