/* SPDX-License-Identifier: Apache-2.0 */
#include "support/hand_ring.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/event.h"

static void fail(const char *what)
{
    perror(what);
    abort();
}

static void *map_file(const char *path, size_t bytes, bool is_new)
{
    int fd = open(path, is_new ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);

    if (fd < 0 || (is_new && ftruncate(fd, (off_t)bytes) != 0))
        fail(path);
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        fail(path);
    close(fd);
    return data;
}

/* ---- Processes ----------------------------------------------------------------------------------------------------- */

uint64_t hand_start_time(int64_t pid)
{
    char path[64], text[1024] = "";
    unsigned long long start = 0;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at != NULL)
        start = strtoull(at, NULL, 10);
    return start;
}

void hand_mortal_begin(hand_mortal *mortal)
{
    int hold[2];

    if (pipe2(hold, O_CLOEXEC) != 0)
        fail("pipe2");
    mortal->pid = fork();
    if (mortal->pid == 0) {
        char byte;
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(hold[0]);
    mortal->hold_fd = hold[1];
    mortal->start_time = hand_start_time(mortal->pid);
}

void hand_mortal_end(hand_mortal *mortal)
{
    kill((pid_t)mortal->pid, SIGKILL); /* the other end of its pipe may be open in a later process */
    close(mortal->hold_fd);
    waitpid((pid_t)mortal->pid, NULL, 0);
}

void hand_process_join(hand_process *process, const char *folder, int64_t pid, uint64_t start_time)
{
    char path[512];

    snprintf(process->folder, sizeof process->folder, "%s", folder);
    snprintf(path, sizeof path, "%s/" NM_RING_SESSION_FILE, folder);
    process->session = map_file(path, sizeof *process->session, false);
    process->number = atomic_fetch_add(&process->session->process_count, 1) + 1;
    snprintf(path, sizeof path, "%s/p.%llu", folder, (unsigned long long)process->number);
    nm_ring_process *shared = map_file(path, sizeof *shared, true);
    shared->magic = NM_RING_PROCESS_MAGIC;
    shared->number = process->number;
    shared->pid = pid;
    shared->start_time = start_time;
    shared->rank = shared->local_rank = shared->world_size = INT64_MIN;
    atomic_store(&shared->run_mode, INT64_MIN);
    memcpy(shared->command, "hand\0made", 10);
    shared->command_bytes = 10;
    __atomic_store_n(&shared->ready, NM_RING_PROCESS_MAGIC, __ATOMIC_RELEASE);
    process->shared = shared;
}

void hand_process_leave(hand_process *process)
{
    munmap(process->shared, sizeof *process->shared);
    munmap(process->session, sizeof *process->session);
}

/* ---- Rings --------------------------------------------------------------------------------------------------------- */

void hand_ring_make(hand_ring *ring, hand_process *process, uint64_t slot_count, int64_t tid, const char *name)
{
    char path[512];
    uint64_t number = atomic_fetch_add(&process->session->ring_count, 1) + 1;

    snprintf(path, sizeof path, "%s/r.%llu", process->folder, (unsigned long long)number);
    ring->session = process->session;
    ring->bytes = NM_RING_HEADER_BYTES + slot_count * NM_RING_SLOT_BYTES;
    ring->ring = map_file(path, ring->bytes, true);
    ring->ring->ring_id = number;
    ring->ring->process_number = process->number;
    ring->ring->slot_count = slot_count;
    __atomic_store_n(&ring->ring->magic, NM_RING_MAGIC, __ATOMIC_RELEASE);
    hand_ring_own(ring, tid, name);
}

void hand_ring_unmap(hand_ring *ring)
{
    munmap(ring->ring, ring->bytes);
}

void hand_ring_own(hand_ring *ring, int64_t tid, const char *name)
{
    struct {
        nm_ring_thread head;
        char name[64];
    } thread = {0};

    ring->thread = atomic_fetch_add(&ring->session->thread_count, 1) + 1;
    atomic_store(&ring->ring->owner, ring->thread);
    atomic_store(&ring->ring->owner_tid, tid);
    thread.head.thread_number = ring->thread;
    thread.head.tid = tid;
    thread.head.text_bytes = strlen(name);
    memcpy(thread.name, name, strlen(name));
    hand_put(ring, NM_RING_THREAD, &thread, sizeof thread.head + strlen(name));
}

static uint64_t read_clock(const hand_ring *ring)
{
    if (ring->session->clock_kind == NM_CLOCK_COUNTER) {
#if defined(__x86_64__)
        unsigned processor;
        return __builtin_ia32_rdtscp(&processor);
#elif defined(__aarch64__)
        uint64_t ticks;
        __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
        return ticks;
#endif
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Never the same twice in a thread: a coarse counter (100 MHz is common on aarch64) would leave the order of two rings
 * that one thread writes by turns open. */
uint64_t hand_ticks(const hand_ring *ring)
{
    static _Thread_local uint64_t last;
    uint64_t ticks;

    while ((ticks = read_clock(ring)) == last)
        continue;
    last = ticks;
    return ticks;
}

unsigned hand_slots(size_t bytes)
{
    return (unsigned)((bytes + 55) / 56);
}

uint64_t hand_claim(hand_ring *ring, unsigned slot_count)
{
    uint64_t position = atomic_load(&ring->ring->head);

    while (position + slot_count > atomic_load(&ring->ring->tail) + ring->ring->slot_count)
        sched_yield();
    atomic_store(&ring->ring->head, position + slot_count);
    return position;
}

void hand_publish(hand_ring *ring, uint64_t position, unsigned kind, const void *payload, size_t bytes)
{
    unsigned slot_count = hand_slots(bytes);

    for (unsigned i = 0; i < slot_count; i++) {
        nm_slot *slot = nm_ring_slot(ring->ring, position + i);
        size_t part = bytes - (size_t)i * 56 < 56 ? bytes - (size_t)i * 56 : 56;

        memcpy(slot->word, (const char *)payload + (size_t)i * 56, part);
        if (i > 0)
            atomic_store(&slot->valid, nm_slot_valid(position + i, 0, NM_RING_MORE));
    }
    atomic_store_explicit(&nm_ring_slot(ring->ring, position)->valid, nm_slot_valid(position, slot_count, kind),
                          memory_order_release);
}

void hand_put(hand_ring *ring, unsigned kind, void *payload, size_t bytes)
{
    uint64_t position = hand_claim(ring, hand_slots(bytes)), ticks = hand_ticks(ring);

    memcpy(payload, &ticks, sizeof ticks);
    hand_publish(ring, position, kind, payload, bytes);
}

/* ---- Records ------------------------------------------------------------------------------------------------------- */

uint64_t hand_alloc(hand_ring *ring, uint64_t ticks, uint32_t heap, uint64_t address, uint64_t bytes, uint32_t stack)
{
    uint64_t position = hand_claim(ring, 1);
    nm_ring_alloc alloc = {.ticks = ticks != 0 ? ticks : hand_ticks(ring),
                           .address = address,
                           .requested_bytes = bytes,
                           .where = nm_ring_where(heap, 0, stack)};

    hand_publish(ring, position, NM_EVENT_ALLOC, &alloc, sizeof alloc);
    return alloc.ticks;
}

uint64_t hand_free(hand_ring *ring, uint64_t ticks, uint32_t heap, uint64_t address)
{
    uint64_t position = hand_claim(ring, 1);
    nm_ring_free freed = {
        .ticks = ticks != 0 ? ticks : hand_ticks(ring), .address = address, .where = nm_ring_where(heap, 0, 0)};

    hand_publish(ring, position, NM_EVENT_FREE, &freed, sizeof freed);
    return freed.ticks;
}

void hand_heap(hand_ring *ring, uint64_t local_id, uint64_t level, uint64_t device, const char *name)
{
    struct {
        nm_ring_heap head;
        char name[64];
    } heap = {.head = {.local_id = local_id, .level = level, .device = device, .size_basis = NM_BASIS_REQUESTED}};

    heap.head.text_bytes = strlen(name);
    memcpy(heap.name, name, strlen(name));
    hand_put(ring, NM_RING_HEAP, &heap, sizeof heap.head + strlen(name));
}

void hand_module(hand_ring *ring, uint64_t base, uint64_t bytes, const char *path)
{
    struct {
        nm_ring_module head;
        char path[512];
    } module = {.head = {.base = base, .bytes = bytes}};

    module.head.text_bytes = strlen(path);
    memcpy(module.path, path, strlen(path));
    hand_put(ring, NM_RING_MODULE, &module, sizeof module.head + strlen(path));
}

void hand_stack(hand_ring *ring, uint64_t local_id, const uint64_t *addresses, size_t depth)
{
    struct {
        nm_ring_stack head;
        uint64_t addresses[NM_RING_STACK_DEPTH_MAX];
    } stack = {.head = {.local_id = local_id, .depth = depth}};

    memcpy(stack.addresses, addresses, depth * sizeof *addresses);
    hand_put(ring, NM_RING_STACK, &stack, sizeof stack.head + depth * sizeof *addresses);
}

void hand_loss(hand_ring *ring, uint64_t first_ticks, uint64_t last_ticks, uint64_t dropped_count)
{
    nm_ring_loss loss = {
        .ticks = first_ticks, .until_ticks = last_ticks, .dropped_count = dropped_count, .detail = NM_LOSS_RING_FULL};

    hand_publish(ring, hand_claim(ring, 1), NM_EVENT_LOSS, &loss, sizeof loss);
}

void hand_mark(hand_ring *ring, const char *name)
{
    struct {
        nm_ring_text head;
        char name[256];
    } text = {0};

    text.head.text_bytes = strlen(name);
    memcpy(text.name, name, strlen(name));
    hand_put(ring, NM_EVENT_MARK, &text, sizeof text.head + strlen(name));
}
