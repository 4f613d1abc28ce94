/* SPDX-License-Identifier: Apache-2.0
 *
 * What a dead recording has left: the files of its session folder and its trace, which anybody may have written to. An input is what was
 * done to them (script.h): "at r.1 4096 ff". What is recovered is loaded behind the trace, as npumem-ingest does. `rings`: of a drain that had
 * time; `spill`: of one that had copied slots into second files (drain/spill.h), s.1 as it was made, s.2 after it went around.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/folder.h"
#include "drain/recover.h"
#include "drain/state.h"
#include "fuzz/load.h"
#include "fuzz/script.h"
#include "fuzz/target.h"
#include "support/hand_ring.h"
#include "trace/block.h"

#define DEAD_PID   0x3fffff
#define SLOTS      64
#define RINGS      2
#define PATH_BYTES (NM_FOLDER_PATH_BYTES + 32)
#define SPILLED    UINT64_C(32) /* slots of s.2; its tail is at 20 and its end at 50 */
#define FILES      8            /* at most */

typedef struct dead_recording {
    const char *name;
    void (*fill)(hand_ring rings[RINGS], nm_buffer spills[RINGS]);
    uint64_t events_recovered; /* of the sound one */
    fuzz_named_file files[FILES];
    size_t file_count; /* the trace is the last */
    char folder[NM_FOLDER_PATH_BYTES];
} dead_recording;

/* ---- The sound ones ---- */

static void put_records(hand_ring *rings, nm_buffer *spills)
{
    (void)spills;
    hand_module(&rings[0], 0x10000, 0x100000, "/lib/program");
    hand_heap(&rings[0], 1, NM_LEVEL_POOL, 1, "pool");
    hand_stack(&rings[0], 1, (uint64_t[]){0x10001, 0x10002, 0x10003}, 3);
    for (uint64_t k = 1; k <= 4; k++)
        hand_alloc(&rings[0], 0, 1, k << 12, 512 * k, 1);
    hand_free(&rings[0], 0, 1, 1 << 12);
    hand_mark(&rings[0], "a mark");
    hand_heap(&rings[1], 2, NM_LEVEL_DRIVER, 1, "device");
    hand_alloc(&rings[1], 0, 2, 1 << 20, 1 << 20, 0);
    hand_loss(&rings[1], 1, 2, 3);
}

/* What the drain does with a ring that is full, from `tail` on: the positions before that stood in the trace meanwhile. */
static void spill(hand_ring *ring, uint64_t slot_count, uint64_t tail, nm_buffer *out)
{
    nm_ring_spill head = {.magic = NM_RING_SPILL_MAGIC, .ring_id = ring->ring->ring_id, .slot_count = slot_count};
    uint64_t end = atomic_load(&ring->ring->head);
    size_t bytes = NM_RING_HEADER_BYTES + (size_t)slot_count * NM_RING_SLOT_BYTES;

    head.tail = tail;
    head.end = end;
    out->data = calloc(1, bytes);
    FUZZ_REQUIRE(out->data != NULL && end - tail <= slot_count);
    out->len = out->cap = bytes;
    memcpy(out->data, &head, sizeof head);
    for (uint64_t position = tail; position < end; position++)
        memcpy(out->data + NM_RING_HEADER_BYTES + position % slot_count * NM_RING_SLOT_BYTES,
               nm_ring_slot(ring->ring, position), NM_RING_SLOT_BYTES);
    atomic_store(&ring->ring->tail, end);
}

static void put_spilled_records(hand_ring *rings, nm_buffer *spills)
{
    put_records(rings, spills);
    spill(&rings[0], SLOTS, 0, &spills[0]);
    for (uint64_t k = 5; k <= SLOTS; k++)
        hand_alloc(&rings[0], 0, 1, k << 12, 512 * k, 1);
    while (atomic_load(&rings[1].ring->head) < 50)
        hand_alloc(&rings[1], 0, 2, atomic_load(&rings[1].ring->head) << 24, 4096, 0);
    spill(&rings[1], SPILLED, 20, &spills[1]);
    hand_free(&rings[1], 0, 2, UINT64_C(40) << 24);
}

static void read_back(const char *path, nm_buffer *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    FUZZ_REQUIRE(fd >= 0 && nm_io_read_all(fd, SIZE_MAX, out, NULL) == NM_OK);
    close(fd);
}

static void make_trace(const dead_recording *dead, const nm_folder *folder, nm_buffer *out)
{
    nm_session session = {.stack_depth = 64, .stacks = NM_STACKS_NATIVE};
    nm_trace_writer *writer = NULL;
    nm_bytes block;

    memcpy(session.trace_id, folder->session->trace_id, sizeof session.trace_id);
    snprintf(session.ring_folder, sizeof session.ring_folder, "%s", dead->folder);
    nm_state_read_boot_id(session.boot_id);
    FUZZ_REQUIRE(nm_trace_writer_new(&session, &writer, NULL) == NM_OK);
    FUZZ_REQUIRE(nm_trace_writer_seal(writer, 0, &block, NULL) == NM_OK);
    FUZZ_REQUIRE(nm_buffer_append(out, block.data, block.len, NULL) == NM_OK);
    nm_trace_writer_free(writer);
}

static void path_of(const dead_recording *dead, size_t file, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s", dead->folder, dead->files[file].name);
}

static void make_sound(dead_recording *dead)
{
    nm_folder_options options = {.stack_mode = NM_STACKS_NATIVE, .stack_depth = 64, .ring_bytes = NM_RING_BYTES_MIN};
    nm_folder folder;
    hand_process process;
    hand_ring rings[RINGS];
    nm_buffer spills[RINGS] = {{0}};
    char path[PATH_BYTES];
    nm_error err = {0};

    if (dead->folder[0] != 0)
        return;
    snprintf(dead->folder, sizeof dead->folder, "%s/%s", fuzz_folder(), dead->name);
    if (nm_folder_create(dead->folder, &options, &folder, &err) != NM_OK)
        fuzz_fail("there is no ring folder", __FILE__, __LINE__, err.text);
    hand_process_join(&process, dead->folder, DEAD_PID, 1);
    for (int i = 0; i < RINGS; i++)
        hand_ring_make(&rings[i], &process, SLOTS, DEAD_PID + i, "thread");
    dead->fill(rings, spills);
    make_trace(dead, &folder, &dead->files[dead->file_count - 1].bytes);
    for (size_t i = 0; i < dead->file_count - 1; i++) {
        path_of(dead, i, path);
        if (dead->files[i].name[0] == NM_RING_SPILL_PREFIX && dead->files[i].name[1] == '.')
            dead->files[i].bytes = spills[dead->files[i].name[2] - '1'];
        else
            read_back(path, &dead->files[i].bytes);
    }
    for (int i = 0; i < RINGS; i++)
        hand_ring_unmap(&rings[i]);
    hand_process_leave(&process);
    nm_folder_close(&folder);
}

/* ---- The targets ---- */

static void recover(const dead_recording *dead, nm_bytes input, nm_bytes trace)
{
    nm_recovery recovery = {0};
    nm_error err = {0};
    nm_status status = nm_recover_rings(trace, &recovery, &err);
    int fd;

    fuzz_check_status(status, &err);
    FUZZ_REQUIRE(input.len != 0 || recovery.events_recovered == dead->events_recovered);
    if (status == NM_OK) {
        FUZZ_REQUIRE(recovery.trace_bytes <= trace.len);
        fd = fuzz_file_of(trace, 0);
        fuzz_load(&fd, 1, fuzz_is_one_of(input, FUZZ_STORED_OF), (nm_bytes){recovery.blocks.data, recovery.blocks.len});
    }
    nm_recovery_free(&recovery);
}

static void put_files(const dead_recording *dead, const fuzz_named_file *files)
{
    char path[PATH_BYTES];

    for (size_t i = 0; i < dead->file_count - 1; i++) {
        path_of(dead, i, path);
        if (files[i].is_gone)
            unlink(path);
        else
            fuzz_write_file(path, (nm_bytes){files[i].bytes.data, files[i].bytes.len});
    }
}

static void recover_changed(dead_recording *dead, nm_bytes input)
{
    fuzz_named_file files[FILES];
    const nm_buffer *trace = &files[dead->file_count - 1].bytes;

    make_sound(dead);
    for (size_t i = 0; i < dead->file_count; i++) {
        const nm_buffer *bytes = &dead->files[i].bytes;
        files[i] = (fuzz_named_file){.name = dead->files[i].name};
        FUZZ_REQUIRE(nm_buffer_append(&files[i].bytes, bytes->data, bytes->len, NULL) == NM_OK);
    }
    fuzz_script_files(input, files, dead->file_count);
    put_files(dead, files);
    recover(dead, input, (nm_bytes){trace->data, trace->len});
    for (size_t i = 0; i < dead->file_count; i++)
        nm_buffer_free(&files[i].bytes);
}

static dead_recording of_rings = {
    .name = "rings",
    .fill = put_records,
    .events_recovered = 8,
    .files = {{.name = "r.1"}, {.name = "r.2"}, {.name = "p.1"}, {.name = "session"}, {.name = "trace"}},
    .file_count = 5};
/* 66 of ring 1; of ring 2, 30 from position 20 on, one behind them, and the loss of what is before. */
static dead_recording of_spill = {.name = "spill",
                                  .fill = put_spilled_records,
                                  .events_recovered = 98,
                                  .files = {{.name = "s.1"},
                                            {.name = "s.2"},
                                            {.name = "r.1"},
                                            {.name = "r.2"},
                                            {.name = "p.1"},
                                            {.name = "session"},
                                            {.name = "trace"}},
                                  .file_count = 7};

static void recover_rings(nm_bytes input)
{
    recover_changed(&of_rings, input);
}

static size_t change_rings(uint8_t *data, size_t len, size_t room, unsigned seed)
{
    make_sound(&of_rings);
    return fuzz_script_mutate(data, len, room, seed, of_rings.files, of_rings.file_count);
}

FUZZ_TARGET(rings, .run = recover_rings, .mutate = change_rings)

static void recover_spill(nm_bytes input)
{
    recover_changed(&of_spill, input);
}

static size_t change_spill(uint8_t *data, size_t len, size_t room, unsigned seed)
{
    make_sound(&of_spill);
    return fuzz_script_mutate(data, len, room, seed, of_spill.files, of_spill.file_count);
}

FUZZ_TARGET(spill, .run = recover_spill, .mutate = change_spill)
