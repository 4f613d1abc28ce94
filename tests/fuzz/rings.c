/* SPDX-License-Identifier: Apache-2.0
 *
 * What a dead recording has left: the files of its session folder and its trace, which anybody may have written to. An input is what was
 * done to them (script.h): "at r.1 4096 ff". What is recovered is loaded behind the trace, as npumem-ingest does.
 */
#include <fcntl.h>
#include <stdio.h>
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

#define DEAD_PID 0x3fffff
#define SLOTS    64
#define FILES    5

static char ring_folder[NM_FOLDER_PATH_BYTES];
static fuzz_named_file sound[FILES] = {{"r.1", {0}}, {"r.2", {0}}, {"p.1", {0}}, {"session", {0}}, {"trace", {0}}};

/* ---- The sound ones ---- */

static void put_records(hand_ring *rings)
{
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

static void read_back(const char *path, nm_buffer *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    FUZZ_REQUIRE(fd >= 0 && nm_io_read_all(fd, SIZE_MAX, out, NULL) == NM_OK);
    close(fd);
}

static void make_trace(const nm_folder *folder, nm_buffer *out)
{
    nm_session session = {.stack_depth = 64, .stacks = NM_STACKS_NATIVE};
    nm_trace_writer *writer = NULL;
    nm_bytes block;

    memcpy(session.trace_id, folder->session->trace_id, sizeof session.trace_id);
    snprintf(session.ring_folder, sizeof session.ring_folder, "%s", ring_folder);
    nm_state_read_boot_id(session.boot_id);
    FUZZ_REQUIRE(nm_trace_writer_new(&session, &writer, NULL) == NM_OK);
    FUZZ_REQUIRE(nm_trace_writer_seal(writer, 0, &block, NULL) == NM_OK);
    FUZZ_REQUIRE(nm_buffer_append(out, block.data, block.len, NULL) == NM_OK);
    nm_trace_writer_free(writer);
}

static void make_sound(void)
{
    nm_folder_options options = {.stack_mode = NM_STACKS_NATIVE, .stack_depth = 64, .ring_bytes = NM_RING_BYTES_MIN};
    nm_folder folder;
    hand_process process;
    hand_ring rings[2];
    char path[NM_FOLDER_PATH_BYTES + 32];
    nm_error err = {0};

    if (ring_folder[0] != 0)
        return;
    snprintf(ring_folder, sizeof ring_folder, "%s/rings", fuzz_folder());
    if (nm_folder_create(ring_folder, &options, &folder, &err) != NM_OK)
        fuzz_fail("there is no ring folder", __FILE__, __LINE__, err.text);
    hand_process_join(&process, ring_folder, DEAD_PID, 1);
    for (int i = 0; i < 2; i++)
        hand_ring_make(&rings[i], &process, SLOTS, DEAD_PID + i, "thread");
    put_records(rings);
    make_trace(&folder, &sound[FILES - 1].bytes);
    for (int i = 0; i < FILES - 1; i++) {
        snprintf(path, sizeof path, "%s/%s", ring_folder, sound[i].name);
        read_back(path, &sound[i].bytes);
    }
    for (int i = 0; i < 2; i++)
        hand_ring_unmap(&rings[i]);
    hand_process_leave(&process);
    nm_folder_close(&folder);
}

/* ---- The target ---- */

static void recover(nm_bytes input, nm_bytes trace)
{
    nm_recovery recovery = {0};
    nm_error err = {0};
    nm_status status = nm_recover_rings(trace, &recovery, &err);
    int fd;

    fuzz_check_status(status, &err);
    if (status == NM_OK) {
        FUZZ_REQUIRE(recovery.trace_bytes <= trace.len);
        fd = fuzz_file_of(trace, 0);
        fuzz_load(&fd, 1, fuzz_is_one_of(input, FUZZ_STORED_OF), (nm_bytes){recovery.blocks.data, recovery.blocks.len});
    }
    nm_recovery_free(&recovery);
}

static void recover_rings(nm_bytes input)
{
    fuzz_named_file files[FILES];
    char path[NM_FOLDER_PATH_BYTES + 32];

    make_sound();
    for (int i = 0; i < FILES; i++) {
        files[i] = (fuzz_named_file){sound[i].name, {0}};
        FUZZ_REQUIRE(nm_buffer_append(&files[i].bytes, sound[i].bytes.data, sound[i].bytes.len, NULL) == NM_OK);
    }
    fuzz_script_files(input, files, FILES);
    for (int i = 0; i < FILES - 1; i++) {
        snprintf(path, sizeof path, "%s/%s", ring_folder, files[i].name);
        fuzz_write_file(path, (nm_bytes){files[i].bytes.data, files[i].bytes.len});
    }
    recover(input, (nm_bytes){files[FILES - 1].bytes.data, files[FILES - 1].bytes.len});
    for (int i = 0; i < FILES; i++)
        nm_buffer_free(&files[i].bytes);
}

static size_t change_rings(uint8_t *data, size_t len, size_t room, unsigned seed)
{
    make_sound();
    return fuzz_script_mutate(data, len, room, seed, sound, FILES);
}

FUZZ_TARGET(rings, .run = recover_rings, .mutate = change_rings)
