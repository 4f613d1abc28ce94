/* SPDX-License-Identifier: Apache-2.0
 *
 * Databases of somebody else. `database`: one of ours that something was done to (script.h), opened by what every program opens one with, and
 * asked. `foreign`: another tool's, which npumem-ingest reads.
 */
#include "fuzz/databases.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "fuzz/load.h"
#include "fuzz/script.h"
#include "fuzz/target.h"
#include "screen/screen.h"
#include "source/foreign_rows.h"
#include "store/database.h"
#include "store/foreign.h"
#include "store/store.h"
#include "support/store_text.h"

#define PATH_BYTES   512
#define SOUND_EVENTS 12
#define ASKED_OF     8 /* inputs of which one is put on the screen */

/* Something of each kind of table. */
static const char trace_text[] =
    "process 1 pid=100 parent=0 host=h1 rank=0 local_rank=0 world_size=2 run_mode=1 begin=5 command=\"train\"\n"
    "device 1 process=1 ordinal=0 physical=2 kind=npu name=Ascend910B capacity=1000000\n"
    "heap 1 process=1 device=1 level=driver basis=requested name=\"NPU 0\"\n"
    "heap 2 process=1 device=1 level=pool basis=block name=\"pool\"\n"
    "thread 1 process=1 tid=100 name=main ring=0\n"
    "stack 1: a.py:3:f < a.py:9:main\n"
    "stack 2: b.py:5:g < a.py:9:main\n"
    "@10 alloc heap=1 address=0x10000 requested=8192 block=8192 thread=1 stack=1\n"
    "@11 alloc heap=2 address=0x10000 requested=64 block=512 thread=1 stack=1 stream=7\n"
    "@12 step thread=1 number=1\n"
    "@13 alloc heap=2 address=0x10200 requested=64 block=512 thread=1 stack=2 stream=7\n"
    "@14 step thread=1 number=2\n"
    "@15 alloc heap=2 address=0x10400 requested=64 block=512 thread=1 stack=2 stream=7\n"
    "@16 free heap=2 address=0x10000 thread=1\n"
    "@17 free heap=2 address=0x10000 thread=1\n"
    "@18 copy thread=1 address=0x10200 source=0x5000 size=9000 limit=512 detail=h2d stack=1\n"
    "@19 alloc_failed heap=1 requested=900000 thread=1 stack=2 error=207001\n"
    "@20 mark thread=1 name=\"after\"\n"
    "@21 process_end thread=1 detail=exit\n";

/* ---- The sound one ---- */

static nm_status make_sound(const char *path, nm_buffer *out, nm_error *err)
{
    nm_input_row input = load_whole_input(SOUND_EVENTS);
    int fd = -1;
    nm_status status = store_text(trace_text, &input, NULL, path, err);

    if (status == NM_OK)
        status = nm_io_open(path, O_RDONLY, 0, &fd, err);
    if (status == NM_OK)
        status = nm_io_read_all(fd, SIZE_MAX, out, err);
    nm_io_close(fd);
    return status;
}

/* It is made once. */
const nm_buffer *fuzz_sound_database(void)
{
    static nm_buffer sound;
    char path[PATH_BYTES];
    nm_error err = {0};

    snprintf(path, sizeof path, "%s/sound.db", fuzz_folder());
    if (sound.len == 0 && make_sound(path, &sound, &err) != NM_OK)
        fuzz_fail("there is no sound database", __FILE__, __LINE__, err.text);
    return &sound;
}

/* ---- Targets ---- */

static void ask(sqlite3 *db, const char *path)
{
    const nm_screen_names names = {.database_path = path};
    nm_screen_options options = {0};
    nm_error err = {0};
    FILE *out = fopen("/dev/null", "we");

    FUZZ_REQUIRE(out != NULL);
    fuzz_check_status(nm_screen_write(db, &names, &options, out, &err), &err);
    fclose(out);
}

static void merge(const char *path)
{
    nm_store_options options = {.role = NM_STORE_MERGED, .is_scratch = true, .is_forced = true, .input_fd = -1};
    nm_store *store = NULL;
    char out_path[PATH_BYTES];
    nm_error err = {0};
    nm_status status;

    snprintf(out_path, sizeof out_path, "%s/merged.db", fuzz_folder());
    status = nm_store_open(out_path, &options, &store, &err);
    if (status == NM_OK)
        status = nm_store_merge_file(store, path, NULL, &err);
    if (status == NM_OK)
        status = nm_store_finish_merged(store, &err);
    fuzz_check_status(status, &err);
    nm_store_close(store);
}

static void open_database(nm_bytes input)
{
    const nm_buffer *sound = fuzz_sound_database();
    nm_foreign *foreign = NULL;
    nm_buffer file = {0};
    char path[PATH_BYTES];
    nm_error err = {0};
    nm_status status;

    FUZZ_REQUIRE(nm_buffer_append(&file, sound->data, sound->len, NULL) == NM_OK);
    fuzz_script_database(input, &file);
    snprintf(path, sizeof path, "%s/bad.db", fuzz_folder());
    fuzz_write_file(path, (nm_bytes){file.data, file.len});
    nm_buffer_free(&file);
    status = nm_foreign_open(path, true, &foreign, &err);
    fuzz_check_status(status, &err);
    FUZZ_REQUIRE((status == NM_OK) == (foreign != NULL));
    if (status == NM_OK && fuzz_is_one_of(input, ASKED_OF))
        ask(nm_foreign_db(foreign), path);
    nm_foreign_close(foreign);
    if (fuzz_is_one_of(input, FUZZ_STORED_OF))
        merge(path);
}

static void load_foreign(nm_bytes input)
{
    nm_buffer file = {0};

    fuzz_script_database(input, &file);
    if (nm_foreign_matches((nm_bytes){file.data, file.len})) {
        int fd = fuzz_file_of((nm_bytes){file.data, file.len}, 0);
        fuzz_load(&fd, 1, fuzz_is_one_of(input, FUZZ_STORED_OF), (nm_bytes){0});
    }
    nm_buffer_free(&file);
}

static size_t change_database(uint8_t *data, size_t len, size_t room, unsigned seed)
{
    fuzz_named_file file = {.name = "db", .bytes = *fuzz_sound_database()};

    return fuzz_script_mutate(data, len, room, seed, &file, 1);
}

FUZZ_TARGET(database, .run = open_database, .mutate = change_database)
FUZZ_TARGET(foreign, .run = load_foreign)
