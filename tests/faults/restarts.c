/* SPDX-License-Identifier: Apache-2.0
 *
 * A job whose recorder is begun anew again and again: threads that live all along, and processes that it forks, record while it is
 * told to. Events are those of fixtures/programs/spin_events.c: allocation k of worker w lies at (w + 1) << 40 | k << 12, has k bytes
 * and is freed at once; workers are the threads, and then the processes.
 *
 *     restarts THREADS PROCESSES EVENTS PACE_US
 *
 * A line on standard input each, answered by a line:
 *     start OUTPUT ACK_FILE    npumem_start; "started FOLDER", or "not started: WHY"
 *     work                     lets all workers record EVENTS allocations and frees; "working"
 *     wait                     until they have; "worked"
 *     stop                     npumem_stop; "stopped RESULT IS_RECORDING"
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "npumem.h"

#define WORKERS_MAX 16
#define MAPPINGS    4000 /* what is kept of each of them by each recording would soon be seen */
#define LINE_BYTES  4096

typedef struct ack { /* as in spin_events.c */
    _Atomic uint64_t allocation_count, free_count;
    uint64_t reserved[6];
} ack;

static int thread_count, process_count;
static uint64_t event_count;
static useconds_t pace_us;
static ack *acks;
static sem_t begin[WORKERS_MAX], done;
static pid_t processes[WORKERS_MAX];

/* As a large program has: neighbours differ, so that none of them are one. */
static bool map_much(void)
{
    char *pages = mmap(NULL, (size_t)MAPPINGS * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    for (int i = 0; pages != MAP_FAILED && i < MAPPINGS; i += 2)
        if (mprotect(pages + (size_t)i * 4096, 4096, PROT_NONE) != 0)
            return false;
    return pages != MAP_FAILED;
}

static void record_events(int worker)
{
    const npumem_heap_options options = {.struct_bytes = sizeof options, .name = "job"};
    npumem_heap heap = npumem_heap_define(&options);
    ack *own = &acks[worker];

    for (uint64_t k = 1; k <= event_count; k++) {
        void *address = (void *)(uintptr_t)(((uint64_t)worker + 1) << 40 | k << 12);

        npumem_alloc(heap, address, k, NULL);
        atomic_store(&own->allocation_count, k);
        npumem_free(heap, address, NULL);
        atomic_store(&own->free_count, k);
        if (k % 16 == 0)
            usleep(pace_us);
    }
}

static void *work(void *context)
{
    int worker = (int)(intptr_t)context;

    for (;;) {
        sem_wait(&begin[worker]);
        record_events(worker);
        sem_post(&done);
    }
    return NULL;
}

static void start(const char *output, const char *ack_file)
{
    char why[512] = "";
    npumem_start_options options = {
        .struct_bytes = sizeof options, .output_path = output, .why = why, .why_bytes = sizeof why};
    size_t bytes = sizeof(ack) * (size_t)(thread_count + process_count);
    int fd = open(ack_file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (acks != NULL)
        munmap(acks, bytes);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        exit(3);
    acks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (npumem_start(&options) == 0)
        printf("started %s\n", npumem_folder());
    else
        printf("not started: %s\n", why);
}

static void begin_work(void)
{
    for (int i = 0; i < process_count; i++) {
        processes[i] = fork();
        if (processes[i] == 0) {
            record_events(thread_count + i);
            _exit(0);
        }
    }
    for (int i = 0; i < thread_count; i++)
        sem_post(&begin[i]);
    printf("working\n");
}

static void wait_for_work(void)
{
    for (int i = 0; i < thread_count; i++)
        sem_wait(&done);
    for (int i = 0; i < process_count; i++)
        if (waitpid(processes[i], NULL, 0) != processes[i])
            exit(4);
    printf("worked\n");
}

static void obey(char *line)
{
    char *output = NULL, *ack_file = NULL;

    if (strncmp(line, "start ", 6) == 0) {
        output = strtok(line + 6, " \n");
        ack_file = strtok(NULL, " \n");
        start(output, ack_file);
    } else if (strncmp(line, "work", 4) == 0) {
        begin_work();
    } else if (strncmp(line, "wait", 4) == 0) {
        wait_for_work();
    } else {
        int result = npumem_stop();

        printf("stopped %d %d\n", result, npumem_is_recording());
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[LINE_BYTES];
    pthread_t thread;

    if (argc != 5)
        return 2;
    thread_count = atoi(argv[1]);
    process_count = atoi(argv[2]);
    event_count = strtoull(argv[3], NULL, 10);
    pace_us = (useconds_t)atoi(argv[4]);
    if (thread_count + process_count > WORKERS_MAX)
        return 2;
    if (!map_much())
        return 1;
    sem_init(&done, 0, 0);
    for (int i = 0; i < thread_count; i++) {
        sem_init(&begin[i], 0, 0);
        if (pthread_create(&thread, NULL, work, (void *)(intptr_t)i) != 0)
            return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL)
        obey(line);
    return 0;
}
