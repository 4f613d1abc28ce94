/* SPDX-License-Identifier: Apache-2.0
 *
 * A program whose host memory moves after the recorder's first look and never again: it prints what the kernel says of it
 * then, and ends as told.
 *
 *     host_memory exit | leave | kill | exec | wait | child
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "npumem.h"

#define MIB ((size_t)1 << 20)

static char *touch(size_t bytes, int flags)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        exit(9);
    memset(memory, 1, bytes);
    return memory;
}

/* As the database shows it: names of z_memory_kind, bytes. */
static void print_figures(void)
{
    static const char *const names[][2] = {{"VmRSS:", "host resident"},
                                           {"RssAnon:", "host anonymous"},
                                           {"RssShmem:", "host shared"},
                                           {"VmStk:", "host stack"},
                                           {"VmHWM:", "host peak"}};
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];

    while (fgets(line, sizeof line, status) != NULL)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strncmp(line, names[i][0], strlen(names[i][0])) == 0)
                printf("%s|%llu\n", names[i][1], strtoull(line + strlen(names[i][0]), NULL, 10) << 10);
    fclose(status);
    fflush(stdout);
}

static void record_something(void)
{
    npumem_heap heap = npumem_heap_define(
        &(npumem_heap_options){.struct_bytes = sizeof(npumem_heap_options), .name = "h", .device = NPUMEM_NO_DEVICE});

    npumem_alloc(heap, (void *)64, 10, NULL);
}

int main(int argc, char **argv)
{
    const char *end = argc == 2 ? argv[1] : "";
    char *gone;

    record_something();
    usleep(200000); /* the first look */
    touch(24 * MIB, MAP_PRIVATE);
    touch(8 * MIB, MAP_SHARED);
    gone = touch(40 * MIB, MAP_PRIVATE);
    munmap(gone, 40 * MIB);
    if (strcmp(end, "child") == 0 && fork() == 0) {
        record_something();
        _exit(0);
    }
    if (strcmp(end, "child") == 0)
        wait(NULL);
    print_figures();
    if (strcmp(end, "kill") == 0 || strcmp(end, "child") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(end, "leave") == 0)
        _exit(3);
    if (strcmp(end, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    if (strcmp(end, "wait") == 0)
        usleep(5000000);
    return 0;
}
