/* SPDX-License-Identifier: Apache-2.0
 *
 * Records and, at one of its events, does to its own descriptors what a daemon or a careless program does; then it uses their
 * numbers itself, and looks whether its files hold what it wrote and nothing else. Events are those of
 * fixtures/programs/spin_events.c.
 *
 *     descriptors ACTION EVENT FOLDER ACK_FILE      in FOLDER it makes its files
 *
 * ACTION: none; close: all from 3 on; reuse: the same, and opens files until number 63; dup2: puts a file of its own over each
 * number from 3 to 63; nofile: allows itself no more; fsize: files of 4,096 bytes at most; chdir: to the folder, and removes
 * it; mask: umask 0777. Exit status 5, and standard output says how many files were right.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npumem.h"

#define EVENTS      40
#define NUMBERS_MAX 64
#define STATUS      5

typedef struct ack { /* as in spin_events.c */
    uint64_t allocation_count, free_count, reserved[6];
} ack;

static const char *folder;
static ack *acks;
static npumem_heap heap;
static int own[NUMBERS_MAX]; /* descriptors of its files */
static unsigned own_count, written_count[NUMBERS_MAX];

static void path_of(unsigned number, char path[static PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/file%u", folder, number);
}

static int open_own(unsigned number)
{
    char path[PATH_MAX];

    path_of(number, path);
    return open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

static void close_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
}

static void reuse(void)
{
    close_all();
    for (int fd = 0; fd < NUMBERS_MAX - 1 && (fd = open_own(own_count)) >= 0;)
        own[own_count++] = fd;
}

static void put_over(void)
{
    int from = open_own(0);

    for (int fd = 3; fd < NUMBERS_MAX; fd++)
        if (fd != from)
            dup2(from, fd);
    own[own_count++] = from;
}

static void limit(int what, rlim_t most)
{
    setrlimit(what, &(struct rlimit){most, most});
}

static void act(const char *action)
{
    if (strcmp(action, "close") == 0)
        close_all();
    else if (strcmp(action, "reuse") == 0)
        reuse();
    else if (strcmp(action, "dup2") == 0)
        put_over();
    else if (strcmp(action, "nofile") == 0)
        limit(RLIMIT_NOFILE, 3);
    else if (strcmp(action, "fsize") == 0)
        limit(RLIMIT_FSIZE, 4096);
    else if (strcmp(action, "chdir") == 0 && chdir(folder) == 0)
        rmdir(folder);
    else if (strcmp(action, "mask") == 0)
        umask(0777);
}

/* One word into each of its files. */
static void write_own(void)
{
    for (unsigned i = 0; i < own_count; i++)
        written_count[i] += write(own[i], "own words\n", 10) == 10;
}

static void say(uint64_t thread, uint64_t k)
{
    void *address = (void *)(uintptr_t)((thread + 1) << 40 | k << 12);

    npumem_alloc(heap, address, k, NULL);
    acks[thread].allocation_count = k;
    npumem_free(heap, address, NULL);
    acks[thread].free_count = k;
}

static void *say_more(void *context)
{
    (void)context;
    for (uint64_t k = 1; k <= EVENTS; k++)
        say(1, k);
    return NULL;
}

/* Of its words, so many, and nothing else. */
static int is_right(unsigned number)
{
    char path[PATH_MAX], line[16];
    unsigned count = 0;

    path_of(number, path);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL && strcmp(line, "own words\n") == 0)
        count++;
    int is_end = feof(file);
    fclose(file);
    return is_end && count == written_count[number];
}

int main(int argc, char **argv)
{
    pthread_t thread;
    unsigned right_count = 0;

    if (argc != 5)
        return 2;
    uint64_t at = strtoull(argv[2], NULL, 10);
    folder = argv[3];
    int fd = open(argv[4], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, 2 * sizeof(ack)) != 0)
        return 1;
    acks = mmap(NULL, 2 * sizeof(ack), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    heap = npumem_heap_define(&(npumem_heap_options){.struct_bytes = sizeof(npumem_heap_options), .name = "own"});
    for (uint64_t k = 1; k <= EVENTS; k++) {
        if (k == at)
            act(argv[1]);
        say(0, k);
        write_own();
    }
    if (pthread_create(&thread, NULL, say_more, NULL) == 0)
        pthread_join(thread, NULL);
    write_own();
    for (unsigned i = 0; i < own_count; i++)
        close(own[i]);
    for (unsigned i = 0; i < own_count; i++)
        right_count += (unsigned)is_right(i);
    printf("%s: %u files, %u of them right, %u words in the first\n", argv[1], own_count, right_count,
           written_count[0]);
    return STATUS;
}
