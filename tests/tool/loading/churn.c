/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens and closes libraries in several threads for a while, some with RTLD_DEEPBIND, looks functions up in them and calls
 * them, then forks: ends by itself, or the loader and we have locked each other out.
 *
 *     churn FOLDER MILLISECONDS
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"

#define THREAD_COUNT 4

static const char *folder;
static atomic_int is_over;
static atomic_ulong open_count, call_count, failed_count;

static void *open_one(const char *name, int flags)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return dlopen(path, flags);
}

static void call_what_was_opened(void *library)
{
    __typeof__(&aclrtGetDevice) get_device = NULL;
    int32_t device;

    *(void **)&get_device = dlsym(library, "aclrtGetDevice");
    if (get_device == NULL)
        return;
    get_device(&device);
    call_count++;
}

static void *churn(void *number)
{
    static const char *const names[] = {"libcalls_lazy.so", "libcalls_now.so", "libcalls_direct.so",
                                        "libpart_third.so"};
    static const int flags[] = {RTLD_LAZY | RTLD_LOCAL, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND,
                                RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND};

    for (uintptr_t i = (uintptr_t)number; !is_over; i++) {
        void *library = open_one(names[i % 4], flags[i % 3]);
        void *again = dlopen("libm.so.6", RTLD_NOW);

        if (library == NULL || again == NULL) {
            failed_count++;
            continue;
        }
        open_count++;
        if (dlsym(library, i % 4 == 3 ? "loading_who" : "calls_run") == NULL)
            failed_count++;
        call_what_was_opened(library);
        dlsym(RTLD_DEFAULT, "aclrtMapMem");
        dlclose(again);
        dlclose(library);
    }
    return NULL;
}

static void fork_one(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        void *library = open_one("libcalls_now.so", RTLD_NOW | RTLD_DEEPBIND);

        _exit(library != NULL && dlsym(library, "calls_run") != NULL ? 0 : 1);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        failed_count++;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREAD_COUNT];
    struct timespec pause = {0};
    long left_ms;

    if (argc != 3)
        return 2;
    folder = argv[1];
    left_ms = atol(argv[2]);
    for (uintptr_t i = 0; i < THREAD_COUNT; i++)
        if (pthread_create(&threads[i], NULL, churn, (void *)i) != 0)
            return 2;
    pause.tv_nsec = 20000000;
    for (; left_ms > 0; left_ms -= 20)
        nanosleep(&pause, NULL);
    is_over = 1;
    for (int i = 0; i < THREAD_COUNT; i++)
        pthread_join(threads[i], NULL);
    fork_one();
    fprintf(stderr, "%lu opened, %lu called\n", open_count, call_count);
    printf("failed %lu\n", failed_count);
    return open_count > 0 && call_count > 0 ? 0 : 1;
}
