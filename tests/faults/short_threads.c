/* SPDX-License-Identifier: Apache-2.0
 *
 * Many threads, each of which records a few events and ends, and so many of them live at once. Events are those of
 * fixtures/programs/spin_events.c: allocation k of thread t lies at (t + 1) << 40 | k << 12 and has k bytes.
 *
 *     short_threads THREADS AT_ONCE EVENTS ACK_FILE
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "npumem.h"

#define AT_ONCE_MAX 256

typedef struct ack { /* as in spin_events.c */
    _Atomic uint64_t allocation_count, free_count;
    uint64_t reserved[6];
} ack;

static ack *acks;
static npumem_heap heap;
static uint64_t event_count;
static pthread_t threads[AT_ONCE_MAX];
static sem_t gates[AT_ONCE_MAX]; /* one a living thread: it may end */
static long at_once;

static void *live(void *context)
{
    uint64_t number = (uint64_t)(uintptr_t)context;

    for (uint64_t k = 1; k <= event_count; k++) {
        void *address = (void *)(uintptr_t)((number + 1) << 40 | k << 12);

        npumem_alloc(heap, address, k, NULL);
        atomic_store(&acks[number].allocation_count, k);
        npumem_free(heap, address, NULL);
        atomic_store(&acks[number].free_count, k);
    }
    sem_wait(&gates[number % (uint64_t)at_once]);
    return NULL;
}

static void end_thread(long number)
{
    sem_post(&gates[number % at_once]);
    pthread_join(threads[number % at_once], NULL);
}

int main(int argc, char **argv)
{
    pthread_attr_t small;

    if (argc != 5)
        return 2;
    long count = strtol(argv[1], NULL, 10);
    at_once = strtol(argv[2], NULL, 10);
    event_count = strtoull(argv[3], NULL, 10);
    int fd = open(argv[4], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (at_once < 1 || at_once > AT_ONCE_MAX || count < at_once || ftruncate(fd, (off_t)sizeof(ack) * count) != 0)
        return 2;
    acks = mmap(NULL, sizeof(ack) * (size_t)count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    heap = npumem_heap_define(&(npumem_heap_options){.struct_bytes = sizeof(npumem_heap_options), .name = "churn"});
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    for (long i = 0; i < at_once; i++)
        sem_init(&gates[i], 0, 0);
    for (long i = 0; i < count; i++) {
        if (i >= at_once)
            end_thread(i - at_once);
        if (pthread_create(&threads[i % at_once], &small, live, (void *)(uintptr_t)i) != 0)
            return 1;
    }
    for (long i = count - at_once; i < count; i++)
        end_thread(i);
    printf("threads %ld\n", count);
    return 0;
}
