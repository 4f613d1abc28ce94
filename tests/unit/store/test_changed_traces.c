/* SPDX-License-Identifier: Apache-2.0
 *
 * Released traces whose contents are changed at random, every checksum right: they are read, replayed and stored. Whatever
 * they say, the load ends well or refuses them, and a second one gives the same database.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/passes.h"
#include "base/checksum.h"
#include "base/io.h"
#include "replay/replay.h"
#include "source/source.h"
#include "support/handmade.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/seed.h"
#include "support/suites.h"
#include "trace/block.h"

#define ROUNDS      100
#define ROUNDS_MANY 1500 /* ./test.sh --nightly */
#define FIRST_BYTES 104  /* of a content: the header's copy */

static const char *const names[] = {TRACES "/format-1.5.zst", TRACES "/kept-1.1.zst", TRACES "/format-1.2.zst"};

#define NAMES (sizeof names / sizeof *names)

static nm_buffer traces[NAMES];
static char folder[64];
static uint64_t random_state;

static uint64_t pick(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

/* ---- Changes ------------------------------------------------------------------------------------------------------- */

static void change_content(nm_buffer *content)
{
    static const uint8_t extremes[] = {0x00, 0x01, 0x7f, 0x80, 0xff};

    for (uint64_t changes = 1 + pick(4); changes > 0 && content->len > FIRST_BYTES + 16; changes--) {
        uint8_t *at = content->data + FIRST_BYTES + pick(content->len - FIRST_BYTES - 16);

        switch (pick(4)) {
        case 0:
            *at = (uint8_t)pick(256);
            break;
        case 1:
            *at ^= (uint8_t)(1 << pick(8));
            break;
        case 2:
            memset(at, extremes[pick(sizeof extremes)], 1 + pick(15));
            break;
        default:
            memmove(at, content->data + FIRST_BYTES + pick(content->len - FIRST_BYTES - 16), 1 + pick(15));
        }
    }
}

/* Each block as it is, or with another content, or not at all, or twice. */
static void change_trace(const nm_buffer *trace, nm_buffer *out)
{
    nm_block_header header;
    nm_error err = {0};

    for (size_t at = 0; at < trace->len;) {
        nm_bytes rest = {trace->data + at, trace->len - at};
        nm_buffer content = {0};

        ck_assert_int_eq(nm_block_read_header(rest, &header, &err), NM_OK);
        size_t bytes = 8 + nm_get_u32(rest.data + 4) + nm_get_u32(rest.data + 8 + 80);
        nm_bytes block = {rest.data, bytes};
        hand_unwrap(block, &content);
        uint64_t fate = pick(12);
        if (fate < 6)
            change_content(&content);
        for (uint64_t times = fate == 6 ? 0 : fate == 7 ? 2 : 1; times > 0; times--)
            hand_wrap(block, (nm_bytes){content.data, content.len}, out);
        nm_buffer_free(&content);
        at += bytes;
    }
}

/* ---- A load -------------------------------------------------------------------------------------------------------- */

static nm_status store_all(nm_source *source, nm_store *store, nm_error *err)
{
    nm_source_summary_data summary;
    nm_replay *replay = NULL;
    nm_record record;
    nm_status status = nm_replay_new(nm_store_sink(store), nm_passes, &replay, err);

    while (status == NM_OK && (status = nm_source_next(source, &record, err)) == NM_OK)
        status = nm_replay_record(replay, &record, err);
    if (status == NM_END)
        status = nm_replay_finish(replay, err);
    nm_source_summary(source, &summary);
    nm_input_row input = load_whole_input(summary.events_ingested);
    if (status == NM_OK)
        status = nm_store_finish(store, &input, err);
    if (status == NM_OK)
        status = nm_store_publish(store, err);
    nm_replay_free(replay);
    return status;
}

static nm_status load(nm_bytes trace, const char *path, nm_error *err)
{
    nm_store_options options = {.is_forced = true, .input_fd = -1};
    nm_source *source = NULL;
    nm_store *store = NULL;
    int fd = -1;

    ck_assert_int_eq(nm_io_open_temporary(&fd, err), NM_OK);
    ck_assert_int_eq(nm_io_write(fd, trace.data, trace.len, err), NM_OK);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    nm_status status = nm_source_open(fd, &source, err);
    if (status == NM_OK) {
        ck_assert_msg(nm_store_open(path, &options, &store, err) == NM_OK, "%s", err->text);
        status = store_all(source, store, err);
        nm_store_close(store);
    }
    nm_source_close(source);
    close(fd);
    return status;
}

static uint64_t digest_of(const char *path)
{
    nm_buffer bytes = {0};
    nm_error err = {0};
    int fd = -1;

    ck_assert_int_eq(nm_io_open(path, O_RDONLY, 0, &fd, &err), NM_OK);
    ck_assert_int_eq(nm_io_read_all(fd, SIZE_MAX, &bytes, &err), NM_OK);
    close(fd);
    uint64_t digest = nm_checksum(bytes.data, bytes.len);
    nm_buffer_free(&bytes);
    return digest;
}

static bool is_whole(const char *path)
{
    sqlite3 *db = load_open(path);
    bool is_so = load_int(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1;

    sqlite3_close(db);
    return is_so;
}

START_TEST(changed_traces_are_loaded_or_refused_and_alike_each_time)
{
    uint64_t seed = seed_of_test(1);
    uint64_t rounds = getenv("NPUMEM_NIGHTLY") == NULL ? ROUNDS : ROUNDS_MANY, loaded = 0;
    char path[96];

    snprintf(path, sizeof path, "%s/t.db", folder);
    for (uint64_t round = 0; round < rounds; round++) {
        nm_buffer changed = {0};
        nm_error err = {0};

        random_state = (seed + round) * 0x9E3779B97F4A7C15u + 1;
        change_trace(&traces[round % NAMES], &changed);
        nm_bytes trace = {changed.data, changed.len};
        nm_status status = load(trace, path, &err);
        ck_assert_msg(status == NM_OK || status == NM_ERR_FORMAT || status == NM_ERR_LIMIT, "round %" PRIu64 ": %s",
                      round, err.text);
        if (status == NM_OK) {
            uint64_t digest = digest_of(path);

            loaded++;
            ck_assert_msg(is_whole(path), "round %" PRIu64 ": a broken database", round);
            ck_assert_msg(load(trace, path, &err) == NM_OK && digest_of(path) == digest,
                          "round %" PRIu64 ": another database at the second time", round);
        }
        nm_buffer_free(&changed);
    }
    ck_assert_uint_gt(loaded, rounds / 2);
}
END_TEST

static void set_up(void)
{
    nm_error err = {0};

    run_make_folder(folder);
    for (size_t i = 0; i < NAMES; i++) {
        int fd = -1;

        ck_assert_int_eq(nm_io_open(names[i], O_RDONLY, 0, &fd, &err), NM_OK);
        ck_assert_int_eq(nm_io_read_all(fd, 1 << 20, &traces[i], &err), NM_OK);
        close(fd);
    }
}

static void tear_down(void)
{
    for (size_t i = 0; i < NAMES; i++)
        nm_buffer_free(&traces[i]);
    run_remove_folder(folder);
}

TEST_SUITE(test_changed_traces)
{
    Suite *suite = suite_create("changed_traces");
    TCase *tests = tcase_create("changed_traces");

    tcase_set_timeout(tests, 110);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, changed_traces_are_loaded_or_refused_and_alike_each_time);
    suite_add_tcase(suite, tests);
    return suite;
}
