/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the loader many things, from the program itself and from libraries (part.c), and prints every answer with what
 * dlerror says and what became of errno: what it prints is the same with and without any recorder. Nothing of it says
 * where a function is, since that may differ.
 *
 * Linked to libpart_first.so and libpart_second.so, in this order; beside it lie libpart_third.so and a folder `apart` with
 * libpart_fourth.so, which the second finds by its run path and the third by an old-style search path that it hands on.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "part.h"

#define STRANGE_ERRNO 77

__attribute__((visibility("default"))) const char *loading_who(void);
extern part_look first_look, second_look;
extern part_open first_open, second_open;

const char *loading_who(void)
{
    return "program";
}

static void *program_look(void *handle, const char *name)
{
    void *found = dlsym(handle, name);

    __asm__ volatile("" : "+r"(found));
    return found;
}

static void *program_open(const char *name, int flags)
{
    return dlopen(name, flags);
}

/* ---- Answers -------------------------------------------------------------------------------------------------------- */

/* The part of an error that does not name a folder. */
static const char *error_text(void)
{
    static char text[512];
    const char *error = dlerror();
    size_t len = 0;

    if (error == NULL)
        return "no error";
    for (const char *at = error; *at != 0 && len + 1 < sizeof text; at++) {
        const char *slash = *at == '/' ? strpbrk(at + 1, "/: ") : NULL;

        if (slash != NULL && *slash == '/')
            at = slash - 1;
        else
            text[len++] = *at;
    }
    text[len] = 0;
    return text;
}

static void look(const char *who, part_look *from, void *handle, const char *name)
{
    void *found;
    int after;

    errno = STRANGE_ERRNO;
    found = from(handle, name);
    after = errno;
    printf("%s looks for %s: ", who, name);
    if (found != NULL && strcmp(name, "loading_who") == 0)
        printf("%s, ", ((part_who *)found)());
    printf("%s, %s", found != NULL ? "found" : "nothing", error_text());
    printf(", then %s, errno %s\n", error_text(), after == STRANGE_ERRNO ? "kept" : "changed");
}

static void *open_from(const char *who, part_open *from, const char *name, int flags)
{
    void *handle;

    errno = STRANGE_ERRNO;
    handle = from(name, flags);
    printf("%s opens %s: %s, ", who, name, handle != NULL ? "done" : "not");
    printf("%s, errno %d\n", error_text(), errno);
    return handle;
}

static void *beside(const char *folder, const char *name, int flags)
{
    char path[4096];
    void *handle;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    handle = dlopen(path, flags);
    printf("%s: %s, %s\n", name, handle != NULL ? "opened" : "not opened", error_text());
    return handle;
}

/* ---- Questions ------------------------------------------------------------------------------------------------------ */

static const char *const names[] = {"loading_who",
                                    "malloc",
                                    "dlsym",
                                    "aclrtMalloc",
                                    "aclrtNone",
                                    "aclrtMapMem",
                                    "halMemAlloc",
                                    "halNone",
                                    "aclnnAdd",
                                    "aclnnAddExtra",
                                    "aclnnAddGetWorkspaceSize",
                                    "hal",
                                    "acl",
                                    "",
                                    "InitInjection"};

static void look_everywhere(const char *who, part_look *from, void *handle)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        /* The real one and ours come behind every library, so that is where these two differ. */
        if (handle == RTLD_NEXT && strcmp(names[i], "dlsym") == 0)
            continue;
        look(who, from, handle, names[i]);
    }
}

static void ask_from(const char *who, part_look *from, void *handle)
{
    printf("-- %s: a handle\n", who);
    look_everywhere(who, from, handle);
    printf("-- %s: the next\n", who);
    look_everywhere(who, from, RTLD_NEXT);
    printf("-- %s: by default\n", who);
    look_everywhere(who, from, RTLD_DEFAULT);
}

/* An error stays until it is asked for, whatever succeeds of others meanwhile. */
static void ask_errors(void *handle)
{
    dlsym(handle, "nothing_one");
    dlsym(handle, "nothing_two");
    printf("two failures: %s, then %s\n", error_text(), error_text());
    dlsym(handle, "nothing_three");
    dlsym(handle, "loading_who");
    printf("a failure and a success: %s\n", error_text());
    dlsym(handle, "aclrtMallocNothing");
    dlopen("/nowhere/libnothing.so", RTLD_NOW);
    printf("a lookup and an opening: %s\n", error_text());
    dlopen("libnothing.so", RTLD_NOW);
    printf("by name: %s\n", error_text());
    dlclose(dlopen(NULL, RTLD_NOW));
    printf("opened and closed: %s\n", error_text());
    printf("no flags: %s, %s\n", dlopen("libc.so.6", 0) != NULL ? "done" : "not", error_text());
}

/* What is closed is gone, as often as it was opened. */
static void ask_closing(const char *folder)
{
    void *handle = beside(folder, "libpart_third.so", RTLD_NOW | RTLD_LOCAL);
    char path[4096];

    snprintf(path, sizeof path, "%s/libpart_third.so", folder);
    printf("once more: %d\n", dlopen(path, RTLD_NOW) == handle);
    printf("closed: %d, still there: %d\n", dlclose(handle), dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL);
    printf("closed: %d, %d", dlclose(handle), dlclose(handle));
    printf(", still there: %d\n", dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL);
}

static void ask_searching(const char *folder)
{
    void *third;
    part_open *third_open = NULL;

    open_from("program", program_open, "libpart_fourth.so", RTLD_NOW);
    open_from("first", first_open, "libpart_fourth.so", RTLD_NOW);
    open_from("first", first_open, "$ORIGIN/apart/libpart_fifth.so", RTLD_NOW);
    open_from("second", second_open, "libpart_fourth.so", RTLD_NOW);
    third = beside(folder, "libpart_third.so", RTLD_NOW | RTLD_LOCAL);
    if (third != NULL)
        *(void **)&third_open = dlsym(third, "third_open");
    if (third_open != NULL) {
        char path[4096];

        snprintf(path, sizeof path, "%s/libpart_needy.so", folder);
        printf("needy from the program: %d\n", dlopen(path, RTLD_NOW) != NULL);
        dlerror();
        printf("needy from the third: %d\n", third_open(path, RTLD_NOW) != NULL);
        printf("%s\n", error_text());
    }
}

int main(int argc, char **argv)
{
    void *library, *deep;
    part_look *third_look = NULL, *deep_look = NULL;

    if (argc < 2)
        return 2;
    setvbuf(stdout, NULL, _IONBF, 0);
    ask_from("program", program_look, dlopen(NULL, RTLD_NOW));
    library = beside(argv[1], "libpart_first.so", RTLD_NOW);
    ask_from("first", first_look, library);
    ask_from("second", second_look, library);
    ask_errors(library);
    ask_closing(argv[1]);
    ask_searching(argv[1]);
    library = beside(argv[1], "libpart_third.so", RTLD_NOW | RTLD_LOCAL);
    deep = beside(argv[1], "libpart_deep.so", RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == NULL || deep == NULL)
        return 1;
    *(void **)&third_look = dlsym(library, "third_look");
    ask_from("third", third_look, library);
    *(void **)&deep_look = dlsym(deep, "deep_look");
    ask_from("deep", deep_look, deep);
    for (int i = 2; i < argc; i++) {
        void *cann = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

        printf("CANN %d: %s\n", i, cann != NULL ? "opened" : "not opened");
        if (cann == NULL)
            continue;
        ask_from("program", program_look, cann);
        ask_from("third", third_look, cann);
        ask_from("deep", deep_look, cann);
        printf("closed: %d\n", dlclose(cann));
    }
    return 0;
}
