/* SPDX-License-Identifier: Apache-2.0
 *
 * Three snapshots that torch_npu wrote on real hardware, and four of torch: the views alone give the values that an
 * independent replay found in them. Skipped where the samples are not there.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/passes.h"
#include "base/io.h"
#include "replay/replay.h"
#include "source/source.h"
#include "steps/anchor.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/suites.h"

typedef struct golden {
    const char *file;
    const char *pool;      /* rows of the pool, "view columns" below */
    const char *leak_rows; /* of leak_by_site */
} golden;

/* Everything that the samples' own README states of a file, as one row. */
static const char pool_sql[] =
    "SELECT (SELECT events_ingested FROM completeness), h.allocation_count, h.miss_count, printf('%.6f', h.hit_rate),"
    " p.baseline_bytes, p.peak_bytes, p.peak_seq, p.peak_reserved_bytes, t.outstanding_count, t.outstanding_bytes,"
    " t.live_bytes, f.reserved_bytes, f.free_bytes, f.largest_free_bytes, printf('%.6f', f.fragmentation_ratio)"
    " FROM peak AS p, heap_total AS t, pool_hit_rate AS h, fragmentation AS f WHERE p.level = 'pool' AND"
    " t.level = 'pool' AND h.bucket = 'all' AND f.moment = 'end'";

static const golden samples[] = {
    {"snapshot_no_leak.pkl",
     "9700|3216|52|0.983831|0|471498368|2599|551550976|0|0|0|551550976|551550976|20971520|0.961977\n", ""},
    {"snapshot_expandable.pkl",
     "8092|2899|45|0.984477|94326992|597327488|7430|643825664|325|314057296|408384288|643825664|235126784|143736320|"
     "0.388686\n",
     "growing|3|125829120|1\n"},
    {"snapshot_with_empty_cache.pkl",
     "8180|2899|79|0.972749|94326992|597327488|7498|662700032|325|314057296|408384288|509607936|93190144|18614784|"
     "0.800249\n",
     "growing|3|125829120|1\n"},
};

/* With stacks="all". Theirs is the pool alone; a hit rate is what the misses leave. */
static const golden torch_samples[] = {
    {"one_forward.pickle",
     "4657|2058|289|0.859572|13628553216|19352504320|4656|19667091456|903|5723951104|19352504320|19667091456|168671232|"
     "4194304|0.975133\n",
     NULL},
    {"one_training_step.pickle",
     "19770|6770|782|0.884490|13662107648|54802667524|19763|61111009280|876|40935749636|54597857284|61111009280|"
     "6237179392|104857600|0.983188\n",
     NULL},
    {"one_forward_12_layers.pickle",
     "2811|937|0|1.000000|523811840|779837440|2630|861929472|0|0|523811840|861929472|336643072|20971520|0.937704\n",
     NULL},
    {"inference_user_metadata.pickle",
     "3840|1280|0|1.000000|1701310464|1736962048|292|1763704832|0|0|1701310464|1763704832|60428288|20971520|"
     "0.652952\n",
     NULL},
};

static char folder[64];
static char path[128];

/* Leaks are judged by steps, so they are looked for first. */
static nm_status find_steps(nm_source *source, nm_anchor **out, nm_error *err)
{
    nm_record record;
    bool is_enough = false, is_done = false;
    nm_status status = nm_anchor_new(&(nm_anchor_options){0}, out, err);

    while (status == NM_OK && !is_enough && (status = nm_source_next(source, &record, err)) == NM_OK)
        status = nm_anchor_observe(*out, &record, &is_enough, err);
    if (status == NM_OK || status == NM_END)
        status = nm_anchor_decide(*out, err);
    return status == NM_OK ? nm_source_rewind(source, &is_done, err) : status;
}

static nm_status replay_source(nm_source *source, nm_store *store, nm_error *err)
{
    nm_anchor *anchor = NULL;
    nm_replay *replay = NULL;
    nm_record record;
    bool begins = false;
    nm_status status = find_steps(source, &anchor, err);

    if (status == NM_OK)
        status = nm_replay_new(nm_store_sink(store), nm_passes, &replay, err);
    while (status == NM_OK && (status = nm_source_next(source, &record, err)) == NM_OK) {
        status = nm_anchor_begins(anchor, &record, &begins, err);
        if (begins)
            nm_replay_begin_step(replay);
        if (status == NM_OK)
            status = nm_replay_record(replay, &record, err);
    }
    nm_anchor_free(anchor);
    if (status == NM_END)
        status = nm_replay_finish(replay, err);
    nm_replay_free(replay);
    return status;
}

static void load_snapshot(const char *file)
{
    nm_store_options options = {.is_forced = true, .input_fd = -1};
    nm_source_summary_data summary;
    nm_source *source = NULL;
    nm_store *store = NULL;
    nm_error err = {0};
    int fd = -1;
    nm_status status = nm_io_open(file, O_RDONLY, 0, &fd, &err);

    if (status == NM_OK)
        status = nm_source_open(fd, &source, &err);
    if (status == NM_OK)
        status = nm_store_open(path, &options, &store, &err);
    if (status == NM_OK)
        status = replay_source(source, store, &err);
    ck_assert_msg(status == NM_OK, "%s: %s", file, err.text);
    nm_source_summary(source, &summary);
    nm_input_row input = load_whole_input(summary.events_seen);
    ck_assert_msg(nm_store_finish(store, &input, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_store_publish(store, &err) == NM_OK, "%s", err.text);
    nm_store_close(store);
    nm_source_close(source);
    nm_io_close(fd);
}

START_TEST(views_give_the_golden_values)
{
    char file[512];
    char *rows;

    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
    for (size_t index = 0; index < sizeof samples / sizeof samples[0]; index++) {
        snprintf(file, sizeof file, "%s/torch_npu/%s", getenv("NPUMEM_SAMPLES_DIR"), samples[index].file);
        load_snapshot(file);
        sqlite3 *db = load_open(path);
        rows = load_rows(db, pool_sql);
        ck_assert_str_eq(rows, samples[index].pool);
        free(rows);
        rows =
            load_rows(db, "SELECT verdict, leak_count, leak_bytes, site LIKE 'memory_leaks_demo.py:1_ train_one_step'"
                          " FROM leak_by_site");
        ck_assert_str_eq(rows, samples[index].leak_rows);
        free(rows);
        sqlite3_close(db);
    }
    run_remove_folder(folder);
}
END_TEST

START_TEST(views_give_the_golden_values_of_torch)
{
    char file[512];

    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
    snprintf(file, sizeof file, "%s/torch/%s", getenv("NPUMEM_SAMPLES_DIR"), torch_samples[_i].file);
    load_snapshot(file);
    sqlite3 *db = load_open(path);
    char *rows = load_rows(db, pool_sql);
    ck_assert_str_eq(rows, torch_samples[_i].pool);
    free(rows);
    sqlite3_close(db);
    run_remove_folder(folder);
}
END_TEST

START_TEST(shares_of_the_peak_sum_to_one)
{
    char file[512];

    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
    for (size_t index = 0; index < sizeof samples / sizeof samples[0]; index++) {
        snprintf(file, sizeof file, "%s/torch_npu/%s", getenv("NPUMEM_SAMPLES_DIR"), samples[index].file);
        load_snapshot(file);
        sqlite3 *db = load_open(path);
        ck_assert_int_eq(load_int(db, "SELECT count(*) FROM (SELECT abs(sum(share_ratio) - 1) AS off FROM peak_by_site"
                                      " GROUP BY heap, level) WHERE off > 1e-9"),
                         0);
        ck_assert_int_eq(load_int(db, "SELECT count(*) FROM peak AS p WHERE p.peak_bytes <> (SELECT sum(s.live_bytes)"
                                      " FROM peak_by_site AS s WHERE s.level = p.level)"),
                         0);
        sqlite3_close(db);
    }
    run_remove_folder(folder);
}
END_TEST

/* torch_npu takes blocks up to 1 MiB from segments of 2 MiB, and larger ones from others. */
START_TEST(a_miss_is_of_the_class_that_its_segment_is)
{
    static const char *const files[] = {"snapshot_no_leak.pkl", "snapshot_with_empty_cache.pkl"};
    const char *samples_folder = getenv("NPUMEM_SAMPLES_DIR");

    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
    for (int i = 0; i < 2; i++) {
        char file[512];

        snprintf(file, sizeof file, "%s/torch_npu/%s", samples_folder, files[i]);
        load_snapshot(file);
        sqlite3 *db = load_open(path);

        ck_assert_int_eq(load_int(db,
                                  "SELECT count(*) FROM z_pool_miss AS m JOIN allocation AS a ON a.alloc_seq = m.seq"
                                  " JOIN allocation AS s ON s.allocation_id = a.segment_id"
                                  " WHERE (s.size_bytes = 2 * 1048576) = m.is_large"),
                         0);
        ck_assert_int_eq(load_int(db, "SELECT miss_count FROM z_pool_by_class WHERE class = 'small'"),
                         load_int(db, "SELECT count(*) FROM allocation WHERE is_segment = 1 AND alloc_seq IS NOT NULL"
                                      " AND size_bytes = 2 * 1048576"));
        ck_assert_int_eq(load_int(db, "SELECT sum(miss_count) FROM z_pool_miss_by_cause"),
                         load_int(db, "SELECT miss_count FROM pool_hit_rate WHERE bucket = 'all'"));
        sqlite3_close(db);
    }
    run_remove_folder(folder);
}
END_TEST

TEST_SUITE(test_view_golden)
{
    const char *samples_folder = getenv("NPUMEM_SAMPLES_DIR");
    char file[512];

    snprintf(file, sizeof file, "%s/torch_npu/%s", samples_folder == NULL ? "" : samples_folder, samples[0].file);
    if (access(file, R_OK) != 0) {
        printf("skipped: no samples here\n");
        return NULL;
    }

    Suite *suite = suite_create("golden values through views");
    TCase *tcase = tcase_create("golden");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, views_give_the_golden_values);
    snprintf(file, sizeof file, "%s/torch/%s", samples_folder, torch_samples[0].file);
    if (access(file, R_OK) == 0)
        tcase_add_loop_test(tcase, views_give_the_golden_values_of_torch, 0,
                            sizeof torch_samples / sizeof torch_samples[0]);
    tcase_add_test(tcase, shares_of_the_peak_sum_to_one);
    tcase_add_test(tcase, a_miss_is_of_the_class_that_its_segment_is);
    suite_add_tcase(suite, tcase);
    return suite;
}
