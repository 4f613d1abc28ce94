/* SPDX-License-Identifier: Apache-2.0
 *
 * See ring_reader.h.
 */
#include "ring_reader.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void session_open(session_fixture *fixture)
{
    char path[128];
    int fd;

    snprintf(fixture->folder, sizeof fixture->folder, "/tmp/npumem-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(fixture->folder));
    snprintf(path, sizeof path, "%s/session", fixture->folder);
    fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, sizeof(nm_ring_session)), 0);
    fixture->session = mmap(NULL, sizeof(nm_ring_session), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(fixture->session, MAP_FAILED);
    close(fd);
    fixture->session->session_bytes = sizeof(nm_ring_session);
    fixture->session->clock_kind = NM_CLOCK_COUNTER;
    fixture->session->from_step = INT64_MIN;
    fixture->session->to_step = INT64_MAX;
    fixture->session->stack_mode = NM_STACKS_NONE;
    fixture->session->stack_depth = 64;
    fixture->session->on_full = NM_ON_FULL_WAIT;
    fixture->session->wait_event_us = 10000;
    fixture->session->wait_second_us = 100000;
    fixture->session->ring_bytes = NM_RING_BYTES_MIN;
    fixture->session->calibration[0].ns_per_tick_q32 = UINT64_C(1) << 32;
    fixture->session->drain_pid = getpid();
    __atomic_store_n(&fixture->session->magic, NM_RING_SESSION_MAGIC, __ATOMIC_RELEASE);
}

void session_close(session_fixture *fixture)
{
    DIR *folder = opendir(fixture->folder);
    struct dirent *entry;
    char path[512];

    atomic_store(&fixture->session->is_closed, 1);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", fixture->folder, entry->d_name);
        unlink(path);
    }
    if (folder != NULL)
        closedir(folder);
    rmdir(fixture->folder);
    munmap(fixture->session, sizeof(nm_ring_session));
}

static void *map_file(const char *path, size_t *bytes)
{
    struct stat status;
    void *memory;
    int fd = open(path, O_RDWR);

    if (fd < 0)
        return NULL;
    ck_assert_int_eq(fstat(fd, &status), 0);
    *bytes = (size_t)status.st_size;
    memory = *bytes > 0 ? mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

nm_ring_process *session_process(const session_fixture *fixture, uint64_t number)
{
    char path[128];
    size_t bytes;
    nm_ring_process *process;

    snprintf(path, sizeof path, "%s/p.%llu", fixture->folder, (unsigned long long)number);
    process = map_file(path, &bytes);
    ck_assert(process == NULL || bytes >= sizeof *process);
    return process != NULL && __atomic_load_n(&process->ready, __ATOMIC_ACQUIRE) == NM_RING_PROCESS_MAGIC ? process
                                                                                                          : NULL;
}

void reader_open(ring_reader *reader, const session_fixture *fixture)
{
    memset(reader, 0, sizeof *reader);
    reader->fixture = fixture;
}

void reader_close(ring_reader *reader)
{
    for (size_t i = 0; i < READER_RINGS_MAX; i++) {
        if (reader->rings[i].ring != NULL)
            munmap(reader->rings[i].ring, reader->rings[i].bytes);
    }
}

/* True when ring number index + 1 is there and whole. */
static bool open_ring(ring_reader *reader, size_t index)
{
    reader_ring *ring = &reader->rings[index];
    char path[128];

    if (ring->ring != NULL)
        return true;
    snprintf(path, sizeof path, "%s/r.%zu", reader->fixture->folder, index + 1);
    ring->ring = map_file(path, &ring->bytes);
    if (ring->ring == NULL)
        return false;
    if (__atomic_load_n(&ring->ring->magic, __ATOMIC_ACQUIRE) != NM_RING_MAGIC) {
        munmap(ring->ring, ring->bytes);
        ring->ring = NULL;
        return false;
    }
    ck_assert_uint_eq(ring->ring->ring_id, index + 1);
    ck_assert_uint_eq(ring->ring->slot_count & (ring->ring->slot_count - 1), 0);
    ck_assert_uint_eq(NM_RING_HEADER_BYTES + ring->ring->slot_count * NM_RING_SLOT_BYTES, ring->bytes);
    return true;
}

/* Copies the record at the cursor; 0: it is not published. */
static unsigned read_record(ring_reader *reader, reader_ring *ring, reader_record *record)
{
    uint64_t position = ring->cursor;
    nm_slot *first = nm_ring_slot(ring->ring, position);
    uint64_t valid = atomic_load_explicit(&first->valid, memory_order_acquire);
    unsigned count = (unsigned)(valid >> 8 & 0xff);

    if (valid >> 16 != ((position + 1) & (UINT64_MAX >> 16)) || count == 0)
        return 0;
    record->ring_id = ring->ring->ring_id;
    record->position = position;
    record->kind = (unsigned)(valid & 0xff);
    for (unsigned i = 0; i < count; i++) {
        nm_slot *slot = nm_ring_slot(ring->ring, position + i);

        if (i > 0 && atomic_load(&slot->valid) != nm_slot_valid(position + i, 0, NM_RING_MORE))
            reader->torn_count++;
        memcpy(record->words + i * 7, slot->word, sizeof slot->word);
    }
    return count;
}

static size_t poll_ring(ring_reader *reader, reader_ring *ring, reader_callback *callback, void *context)
{
    uint64_t head = atomic_load_explicit(&ring->ring->head, memory_order_acquire);
    static reader_record record;
    size_t record_count = 0;

    ck_assert_uint_le(head - ring->cursor, ring->ring->slot_count);
    while (ring->cursor < head) {
        unsigned slot_count = read_record(reader, ring, &record);

        if (slot_count == 0) {
            reader->open_count += head - ring->cursor;
            break;
        }
        if (record.kind == NM_RING_THREAD)
            ring->thread_number = ((nm_ring_thread *)record.words)->thread_number;
        record.thread_number = ring->thread_number;
        if (callback != NULL)
            callback(context, &record);
        ring->cursor += slot_count;
        record_count++;
        if (!reader->keeps_tail)
            atomic_store_explicit(&ring->ring->tail, ring->cursor, memory_order_release);
    }
    return record_count;
}

size_t reader_poll(ring_reader *reader, reader_callback *callback, void *context)
{
    uint64_t ring_count = atomic_load(&reader->fixture->session->ring_count);
    size_t record_count = 0;

    ck_assert_uint_le(ring_count, READER_RINGS_MAX);
    reader->open_count = 0;
    for (size_t i = 0; i < ring_count; i++) {
        if (open_ring(reader, i))
            record_count += poll_ring(reader, &reader->rings[i], callback, context);
    }
    return record_count;
}

const char *reader_text(const reader_record *record, size_t head_bytes)
{
    return (const char *)record->words + head_bytes;
}
