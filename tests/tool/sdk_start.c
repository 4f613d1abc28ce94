/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that records itself, twice, into the two files it is given, and says what it noticed: its wait() must see its
 * own children alone, errno must stay, and a child is recorded as a process of its own. Run by sdk_start.sh.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "npumem.h"

#define BLOCKS 1000

static int record_into(const char *path)
{
    npumem_start_options options = {.struct_bytes = sizeof options, .output_path = path};
    npumem_heap heap;
    int status, pid;

    errno = 5;
    if (npumem_start(&options) != 0 || !npumem_is_recording() || errno != 5)
        return 1;
    if (wait(NULL) != -1 || errno != ECHILD)
        return 2; /* the drain, or what started it, is a child of ours */
    heap = npumem_heap_define(NULL);
    for (int i = 0; i < BLOCKS; i++)
        npumem_alloc(heap, (void *)(uintptr_t)(4096 + i * 64), 64, NULL);
    pid = fork();
    if (pid == 0) {
        npumem_alloc(npumem_heap_define(NULL), (void *)64, 64, NULL);
        _exit(3);
    }
    if (waitpid(pid, &status, 0) != pid)
        return 3;
    if (npumem_stop() != 0 || npumem_is_recording())
        return 4;
    return access(path, R_OK) == 0 ? 0 : 5; /* whole as soon as npumem_stop returns */
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int result = record_into(argv[i]);

        if (result != 0) {
            printf("recording %d failed at %d\n", i, result);
            return 1;
        }
    }
    return argc == 3 ? 0 : 2;
}
