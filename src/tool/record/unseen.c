/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's file says whether it could have loaded the recorder (drain/loadable.h). If it could and ended as the loader
 * ends a program that it cannot put together, a library is missing; otherwise its environment was changed on the way.
 */
#include "tool/record/unseen.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "drain/loadable.h"

#define EXIT_OF_THE_LOADER 127

static const char *const sentences[] = {
    [NM_LOADABLE] = "could have loaded the recorder, but LD_PRELOAD did not reach it, or the library cannot be read "
                    "there: put npumem-record behind what changes the environment (env -i, sudo, a container)",
    [NM_LOADABLE_STATIC] = "is static, so that nothing can be loaded into it: link it without -static",
    [NM_LOADABLE_RAISED] = "is setuid or setgid, so that the loader drops LD_PRELOAD: record a copy without that bit",
    [NM_LOADABLE_CAPABLE] = "has file capabilities, so that the loader drops LD_PRELOAD: record a copy without them",
    [NM_LOADABLE_OTHER_LIBC] = "is built for another libc than glibc: build it for glibc",
    [NM_LOADABLE_OTHER_MACHINE] = "is built for another kind of processor: use the npumem that is built for that",
};

static const char incomplete[] =
    "did not begin: the loader did not find a library that it needs, or a function in one (its line "
    "says which): LD_LIBRARY_PATH says where it is, or a run path, as `pkg-config --libs npumem` has";

static bool is_program(const char *path)
{
    return nm_door_leads_to(path, S_IFREG) && nm_door_allows(path, X_OK);
}

/* As execvp finds it. */
static bool find_program(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    bool is_found = false;

    if (strchr(name, '/') != NULL)
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
    for (const char *at = folders == NULL ? "/bin:/usr/bin" : folders; at != NULL && !is_found;) {
        int len = (int)strcspn(at, ":");

        is_found =
            snprintf(path, PATH_MAX, "%.*s%s%s", len, at, len > 0 ? "/" : "./", name) < PATH_MAX && is_program(path);
        at = at[len] == ':' ? at + len + 1 : NULL;
    }
    return is_found;
}

void record_unseen_explain(const char *name, int exit_status, char *out, size_t size)
{
    char shown[128], path[PATH_MAX];
    nm_loadable reason = NM_LOADABLE;
    const char *sentence;

    if (find_program(name, path))
        nm_loadable_judge(path, &reason);
    sentence = reason == NM_LOADABLE && exit_status == EXIT_OF_THE_LOADER ? incomplete : sentences[reason];
    snprintf(out, size, "%s %s", nm_shown_text(shown, sizeof shown, name), nm_spoken(sentence));
}
