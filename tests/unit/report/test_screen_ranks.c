/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole screens of many ranks, in both languages, of recordings small enough
 * that every figure in them is known, and of 512 ranks.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cells.h"
#include "screen/screen.h"
#include "support/draft.h"
#include "support/load_text.h"
#include "support/suites.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static int event_count;
static int64_t now_ns;

/* ---- A job
 * -------------------------------------------------------------------------------------------------------
 */

static void begin(void)
{
    draft_begin();
    event_count = 0;
    now_ns = 0;
    draft_say("stack 1: /model.py:88:forward < /train.py:5:main\nstack 2: "
              "/data.py:41:collate < /train.py:8:main\n"
              "stack 3: /gather.py:2:buffer < /train.py:9:main\n");
}

/* A process of a job of so many ranks (0: it was not told), on an NPU of 64
 * GiB; the rank below 0: none. */
static void say_process(int index, int rank, int world_size, const char *host)
{
    int id = index + 1;

    draft_say("process %d pid=%d host=%s begin=0 command=\"python3 train.py\"", id, 1000 + index, host);
    draft_say(rank < 0 ? "\n" : " rank=%d", rank);
    draft_say(world_size > 0 ? " world_size=%d\n" : "\n", world_size);
    draft_say("device %d process=%d ordinal=0 physical=%d kind=npu capacity=%" PRId64 "\n", id, id, index % 8,
              64 * GIB);
    draft_say("thread %d process=%d tid=%d\n", id, id, 1000 + index);
    draft_say("heap %d process=%d device=%d level=driver basis=block "
              "name=\"device memory\"\n",
              2 * id - 1, id, id);
    draft_say("heap %d process=%d device=%d level=pool basis=block name=ptaCaching\n", 2 * id, id, id);
}

/* One event, a millisecond after the one before. */
#define say_event(...) (draft_say("@%" PRId64 " ", now_ns), draft_say(__VA_ARGS__), now_ns += 1000000, event_count++)

/* Host memory that is looked at often enough, and stays as it is. */
static void say_host(int index)
{
    for (int i = 0; i < 5; i++, event_count++)
        draft_say("@%" PRId64 " memory_sample number=%d detail=101 size=104857600 total=68719476736\n", now_ns,
                  index + 1);
}

static void say_pool(int index, int64_t segment_bytes, int64_t block_bytes)
{
    say_host(index);
    say_event("alloc heap=%d address=0x100000000 block=%" PRId64 " thread=%d stack=1\n", 2 * index + 1, segment_bytes,
              index + 1);
    say_event("alloc heap=%d address=0x100000000 block=%" PRId64 " thread=%d stack=1\n", 2 * index + 2, block_bytes,
              index + 1);
}

static void say_step(int index, int number)
{
    say_event("step number=%d thread=%d\n", number, index + 1);
}

static void say_out_of_memory(int index)
{
    say_event("alloc_failed heap=%d requested=%" PRId64 " error=207001 thread=%d stack=1\n", 2 * index + 1, 2 * GIB,
              index + 1);
}

static void say_end(int index, const char *kind, int status)
{
    say_event("process_end process=%d detail=%s error=%d\n", index + 1, kind, status);
}

/* Four ranks of one host with 40 GiB each, two steps: until before their end.
 */
static void say_four(int world_size)
{
    begin();
    for (int i = 0; i < 4; i++)
        say_process(i, i, world_size, "n0");
    for (int i = 0; i < 4; i++)
        say_pool(i, (40 + i) * GIB, (39 + i) * GIB);
    for (int i = 0; i < 8; i++)
        say_step(i % 4, 1 + i / 4);
}

/* ---- Screens
 * -----------------------------------------------------------------------------------------------------
 */

static char *show(sqlite3 *db, nm_language language)
{
    nm_screen_names names = {.database_path = "job.db"};
    nm_screen_options options = {.language = language};
    nm_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    ck_assert_msg(nm_screen_write(db, &names, &options, file, &err) == NM_OK, "%s", err.text);
    fclose(file);
    return text;
}

static void expect_screen(sqlite3 *db, const char *english, const char *chinese)
{
    char *shown = show(db, NM_ENGLISH);

    ck_assert_str_eq(shown, english);
    free(shown);
    shown = show(db, NM_CHINESE);
    ck_assert_str_eq(shown, chinese);
    free(shown);
}

static void expect(const char *english, const char *chinese)
{
    sqlite3 *db = draft_load((uint64_t)event_count);

    expect_screen(db, english, chinese);
    sqlite3_close(db);
}

START_TEST(four_healthy_ranks)
{
    say_four(4);
    for (int i = 0; i < 4; i++)
        say_end(i, "exit", 0);
    expect("run.zst  train.py, 4 processes, 2 steps, all 4 ended by themselves (0), nothing lost\n"
           "RANKS                             peak of 64.0 GiB  reserved     leaks  ended\n"
           "worst    rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  by itself (0)\n"
           "median   rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  by itself (0)\n"
           "ok       fragmentation 2.5 %, no failure, no misuse\n"
           "not judged  leaks: 2 of 3 steps seen, 1 more needed; pool hit rate: no request after the warm-up,\n"
           "         1 needed\n"
           "next     npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n",
           "run.zst  train.py，4 个进程，2 步，4 个均自行结束（退出码 0），无丢失\n"
           "各rank                             峰值 / 64.0 GiB      预留      泄漏  结束\n"
           "最高     rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  自行结束（退出码 0）\n"
           "中位     rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  自行结束（退出码 0）\n"
           "正常     碎片率 2.5 %，无失败，无误用\n"
           "未判定   泄漏：已见 3 步中的 2 步，还需 1 步；内存池命中率：预热后无请求，至少需要 1 个\n"
           "下一步   npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n");
}
END_TEST

/* What is no recording tells of no end: neither that there was one nor that it was not seen. */
START_TEST(snapshots_of_ranks_do_not_end)
{
    say_four(4);
    sqlite3 *db = draft_load_as_snapshot((uint64_t)event_count);
    char *shown = show(db, NM_ENGLISH);

    ck_assert_ptr_nonnull(strstr(shown, "run.zst  train.py, 4 processes, 2 steps, snapshots, nothing lost\n"));
    ck_assert_ptr_nonnull(strstr(shown, "rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  a snapshot\n"));
    ck_assert_ptr_null(strstr(shown, "not seen"));
    free(shown);
    sqlite3_close(db);
}
END_TEST

START_TEST(one_was_out_of_memory_and_three_followed)
{
    say_four(4);
    say_out_of_memory(2);
    say_end(3, "signal", 6);
    say_end(1, "exit", 1);
    say_end(0, "exit", 1);
    say_end(2, "exit", 1);
    expect("run.zst  train.py, 4 processes, 2 steps, FAILED: rank 2 (NPU 2) first, out of memory at step 2;\n"
           "         3 followed within 3.0 ms, nothing lost\n"
           "first    rank 2 (NPU 2), pid 1002, at 16.0 ms\n"
           "then     2 x status 1, 1 x signal 6\n"
           "1 ASKED  at least 2.0 GiB at model.py:88 forward, rank 2 NPU 2 at 16.0 ms: failed for good\n"
           "WHY      not known: this process held 42.0 GiB; how much of the device was free is not recorded\n"
           "HELD     ptaCaching used 41.0 GiB, ptaCaching free between blocks 1.0 GiB\n"
           "HOLDERS  41.0 GiB  model.py:88 forward, 1 live\n"
           "RANKS                             peak of 64.0 GiB  reserved     leaks  ended\n"
           "worst    rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  signal 6 at step 2\n"
           "median   rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  status 1 at step 2\n"
           "first    rank 2  NPU 2                    42.0 GiB  42.0 GiB       0 B  out of memory at step 2\n"
           "ok       fragmentation 2.5 %, no misuse\n"
           "not judged  leaks: 2 of 3 steps seen, 1 more needed; pool hit rate: no request after the warm-up,\n"
           "         1 needed\n"
           "next     npumem stack job.db oom    npumem report job.db\n",
           "run.zst  train.py，4 个进程，2 步，失败：rank 2 (NPU 2) 最先，内存不足（第 2 步）；3 个在 3.0 ms\n"
           "         内随后失败，无丢失\n"
           "最先     rank 2 (NPU 2)，pid 1002，时间 16.0 ms\n"
           "随后     2 个 退出码 1，1 个 信号 6\n"
           "1 请求   model.py:88 forward 至少请求 2.0 GiB，rank 2 NPU 2，时刻 16.0 ms：最终失败\n"
           "原因     未知：本进程占用 42.0 GiB；设备剩余多少没有记录\n"
           "占用     ptaCaching 已用 41.0 GiB，ptaCaching 块之间的空闲 1.0 GiB\n"
           "占用者   41.0 GiB  model.py:88 forward，1 个存活\n"
           "各rank                             峰值 / 64.0 GiB      预留      泄漏  结束\n"
           "最高     rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  信号 6（第 2 步）\n"
           "中位     rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  退出码 1（第 2 步）\n"
           "最先     rank 2  NPU 2                    42.0 GiB  42.0 GiB       0 B  内存不足（第 2 步）\n"
           "正常     碎片率 2.5 %，无误用\n"
           "未判定   泄漏：已见 3 步中的 2 步，还需 1 步；内存池命中率：预热后无请求，至少需要 1 个\n"
           "下一步   npumem stack job.db oom    npumem report job.db\n");
}
END_TEST

/* Of a world of six ranks two are not in the recording, and one of the others
 * is still running: who was first is who was seen. */
START_TEST(missing_ranks_are_named)
{
    say_four(6);
    say_end(1, "exit", 3);
    for (int i = 2; i < 4; i++)
        say_end(i, "exit", 0);
    expect("run.zst  train.py, 4 processes, 2 steps, FAILED: rank 1 (NPU 1) first as far as was seen, status\n"
           "         3 at step 2, nothing lost\n"
           "first    rank 1 (NPU 1), pid 1001, at 16.0 ms\n"
           "missing  2 of 6 ranks (WORLD_SIZE) not in the recordings: 4-5\n"
           "RANKS                             peak of 64.0 GiB  reserved     leaks  ended\n"
           "worst    rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  by itself (0)\n"
           "median   rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  status 3 at step 2\n"
           "first    rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  status 3 at step 2\n"
           "ok       fragmentation 2.5 %, no misuse\n"
           "not judged  leaks: 2 of 3 steps seen, 1 more needed; pool hit rate: no request after the warm-up,\n"
           "         1 needed\n"
           "next     npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n",
           "run.zst  train.py，4 个进程，2 步，失败：据所见 rank 1 (NPU 1) 最先，退出码 3（第 2 步），无丢失\n"
           "最先     rank 1 (NPU 1)，pid 1001，时间 16.0 ms\n"
           "缺失     6 个 rank (WORLD_SIZE) 中有 2 个不在记录内：4-5\n"
           "各rank                             峰值 / 64.0 GiB      预留      泄漏  结束\n"
           "最高     rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  自行结束（退出码 0）\n"
           "中位     rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  退出码 3（第 2 步）\n"
           "最先     rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  退出码 3（第 2 步）\n"
           "正常     碎片率 2.5 %，无误用\n"
           "未判定   泄漏：已见 3 步中的 2 步，还需 1 步；内存池命中率：预热后无请求，至少需要 1 个\n"
           "下一步   npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n");
}
END_TEST

START_TEST(one_was_killed)
{
    say_four(4);
    say_end(3, "signal", 9);
    for (int i = 0; i < 3; i++)
        say_end(i, "signal", 15);
    expect("run.zst  train.py, 4 processes, 2 steps, FAILED: rank 3 (NPU 3) first, signal 9 at step 2;\n"
           "         3 followed within 3.0 ms, nothing lost\n"
           "first    rank 3 (NPU 3), pid 1003, at 16.0 ms\n"
           "then     3 x signal 15\n"
           "RANKS                             peak of 64.0 GiB  reserved     leaks  ended\n"
           "worst    rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  signal 9 at step 2\n"
           "median   rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  signal 15 at step 2\n"
           "first    rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  signal 9 at step 2\n"
           "ok       fragmentation 2.5 %, no misuse\n"
           "not judged  leaks: 2 of 3 steps seen, 1 more needed; pool hit rate: no request after the warm-up,\n"
           "         1 needed\n"
           "next     npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n",
           "run.zst  train.py，4 个进程，2 步，失败：rank 3 (NPU 3) 最先，信号 9（第 2 步）；3 个在 3.0 ms\n"
           "         内随后失败，无丢失\n"
           "最先     rank 3 (NPU 3)，pid 1003，时间 16.0 ms\n"
           "随后     3 个 信号 15\n"
           "各rank                             峰值 / 64.0 GiB      预留      泄漏  结束\n"
           "最高     rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  信号 9（第 2 步）\n"
           "中位     rank 1  NPU 1                    41.0 GiB  41.0 GiB       0 B  信号 15（第 2 步）\n"
           "最先     rank 3  NPU 3                    43.0 GiB  43.0 GiB       0 B  信号 9（第 2 步）\n"
           "正常     碎片率 2.5 %，无误用\n"
           "未判定   泄漏：已见 3 步中的 2 步，还需 1 步；内存池命中率：预热后无请求，至少需要 1 个\n"
           "下一步   npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n");
}
END_TEST

/* ---- Several hosts
 * -----------------------------------------------------------------------------------------------
 */

/* As if each rank had been recorded into a file of its own, on hosts n0 and n1
 * by turns: text traces have one file. The recording of rank i began at second
 * seconds[i] of the wall clock. */
static sqlite3 *load_on_hosts(const double seconds[4])
{
    sqlite3 *db = draft_load((uint64_t)event_count), *changed = NULL;
    char path[256], sql[1024];

    snprintf(path, sizeof path, "%s", sqlite3_db_filename(db, "main"));
    sqlite3_close(db);
    ck_assert_int_eq(sqlite3_open(path, &changed), SQLITE_OK);
    for (int i = 0; i < 4; i++) {
        snprintf(sql, sizeof sql,
                 "CREATE TEMP TABLE one AS SELECT * FROM input WHERE input_id = 1; "
                 "UPDATE one SET input_id = %d, path ="
                 " 'run%d.zst'; INSERT OR REPLACE INTO input SELECT * FROM one; DROP "
                 "TABLE one;"
                 " UPDATE input SET start_realtime_ns = 1700000000000000000 + %" PRId64 " WHERE input_id = %d;"
                 " UPDATE process SET input_id = %d, host = 'n%d' WHERE rank = %d",
                 i + 1, i, (int64_t)(seconds[i] * 1e9), i + 1, i + 1, i % 2, i);
        ck_assert_int_eq(sqlite3_exec(changed, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    return changed;
}

static void say_four_with_status(void)
{
    say_four(4);
    for (int i = 0; i < 4; i++)
        say_end(i, "exit", 1);
}

/* As ranks of snapshots are. */
START_TEST(a_process_without_a_number_is_called_by_none)
{
    static const double at_once[4] = {0};
    sqlite3 *db;
    char *shown;

    say_four_with_status();
    db = load_on_hosts(at_once);
    ck_assert_int_eq(sqlite3_exec(db, "UPDATE process SET pid = NULL", NULL, NULL, NULL), SQLITE_OK);
    shown = show(db, NM_ENGLISH);
    ck_assert_ptr_nonnull(strstr(shown, "first    rank 0 (n0 NPU 0), at 2023-11-14 22:13:20 UTC"));
    ck_assert_ptr_null(strstr(shown, "pid"));
    free(shown);
    sqlite3_close(db);
}
END_TEST

/* Ranks 0 and 2 share a host, so that 50 ms between them are certain; a second
 * between hosts is not, three are. */
START_TEST(clocks_of_hosts_are_believed_as_far_as_they_go)
{
    static const double apart[4] = {0, 3, 0.05, 5}, close[4] = {0, 0.7, 0.004, 5};
    sqlite3 *db;

    say_four_with_status();
    db = load_on_hosts(apart);
    expect_screen(
        db,
        "job.db   4 inputs, train.py, 4 processes, 2 steps, FAILED: rank 0 (n0 NPU 0) first, status 1 at step\n"
        "         2; 3 followed within 5.0 s, nothing lost\n"
        "first    rank 0 (n0 NPU 0), pid 1000, at 2023-11-14 22:13:20 UTC; clocks taken to agree within 1.0 s\n"
        "then     3 x status 1\n"
        "RANKS                             peak of 64.0 GiB  reserved     leaks  ended\n"
        "worst    rank 3  n1 NPU 3                 43.0 GiB  43.0 GiB       0 B  status 1 at step 2\n"
        "median   rank 1  n1 NPU 1                 41.0 GiB  41.0 GiB       0 B  status 1 at step 2\n"
        "first    rank 0  n0 NPU 0                 40.0 GiB  40.0 GiB       0 B  status 1 at step 2\n"
        "ok       fragmentation 2.5 %, no misuse\n"
        "not judged  leaks: 2 of 3 steps seen, 1 more needed; pool hit rate: no request after the warm-up,\n"
        "         1 needed\n"
        "next     npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n",
        "job.db   4 个输入，train.py，4 个进程，2 步，失败：rank 0 (n0 NPU 0) 最先，退出码 1（第 2 步）；\n"
        "         3 个在 5.0 s 内随后失败，无丢失\n"
        "最先     rank 0 (n0 NPU 0)，pid 1000，时间 2023-11-14 22:13:20 UTC；各时钟误差按 1.0 s 计\n"
        "随后     3 个 退出码 1\n"
        "各rank                             峰值 / 64.0 GiB      预留      泄漏  结束\n"
        "最高     rank 3  n1 NPU 3                 43.0 GiB  43.0 GiB       0 B  退出码 1（第 2 步）\n"
        "中位     rank 1  n1 NPU 1                 41.0 GiB  41.0 GiB       0 B  退出码 1（第 2 步）\n"
        "最先     rank 0  n0 NPU 0                 40.0 GiB  40.0 GiB       0 B  退出码 1（第 2 步）\n"
        "正常     碎片率 2.5 %，无误用\n"
        "未判定   泄漏：已见 3 步中的 2 步，还需 1 步；内存池命中率：预热后无请求，至少需要 1 个\n"
        "下一步   npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n");
    sqlite3_close(db);
    say_four_with_status();
    db = load_on_hosts(close);
    expect_screen(
        db,
        "job.db   4 inputs, train.py, 4 processes, 2 steps, FAILED: rank 0 (n0 NPU 0), status 1 at step 2,\n"
        "         and 2 more at about the same time; 1 followed within 5.0 s, nothing lost\n"
        "first    rank 0 (n0 NPU 0), pid 1000, at 2023-11-14 22:13:20 UTC; clocks taken to agree within 1.0 s\n"
        "         at about the same time: rank 1, rank 2\n"
        "then     1 x status 1\n"
        "RANKS                             peak of 64.0 GiB  reserved     leaks  ended\n"
        "worst    rank 3  n1 NPU 3                 43.0 GiB  43.0 GiB       0 B  status 1 at step 2\n"
        "median   rank 1  n1 NPU 1                 41.0 GiB  41.0 GiB       0 B  status 1 at step 2\n"
        "first    rank 0  n0 NPU 0                 40.0 GiB  40.0 GiB       0 B  status 1 at step 2\n"
        "ok       fragmentation 2.5 %, no misuse\n"
        "not judged  leaks: 2 of 3 steps seen, 1 more needed; pool hit rate: no request after the warm-up,\n"
        "         1 needed\n"
        "next     npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n",
        "job.db   4 个输入，train.py，4 个进程，2 步，失败：rank 0 (n0 NPU 0)，退出码 1（第 2 步），另有\n"
        "         2 个几乎同时；1 个在 5.0 s 内随后失败，无丢失\n"
        "最先     rank 0 (n0 NPU 0)，pid 1000，时间 2023-11-14 22:13:20 UTC；各时钟误差按 1.0 s 计\n"
        "         几乎同时：rank 1, rank 2\n"
        "随后     1 个 退出码 1\n"
        "各rank                             峰值 / 64.0 GiB      预留      泄漏  结束\n"
        "最高     rank 3  n1 NPU 3                 43.0 GiB  43.0 GiB       0 B  退出码 1（第 2 步）\n"
        "中位     rank 1  n1 NPU 1                 41.0 GiB  41.0 GiB       0 B  退出码 1（第 2 步）\n"
        "最先     rank 0  n0 NPU 0                 40.0 GiB  40.0 GiB       0 B  退出码 1（第 2 步）\n"
        "正常     碎片率 2.5 %，无误用\n"
        "未判定   泄漏：已见 3 步中的 2 步，还需 1 步；内存池命中率：预热后无请求，至少需要 1 个\n"
        "下一步   npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n");
    sqlite3_close(db);
}
END_TEST

/* A recording that does not know the wall clock cannot be put into an order
 * with others. */
START_TEST(without_a_clock_nobody_was_first)
{
    static const double seconds[4] = {0};
    sqlite3 *db;

    say_four_with_status();
    db = load_on_hosts(seconds);
    ck_assert_int_eq(sqlite3_exec(db, "UPDATE input SET start_realtime_ns = NULL WHERE input_id = 3", NULL, NULL, NULL),
                     SQLITE_OK);
    expect_screen(
        db,
        "job.db   4 inputs, train.py, 4 processes, 2 steps, FAILED: 4 of 4, which of them first is not known,\n"
        "         nothing lost\n"
        "RANKS                             peak of 64.0 GiB  reserved     leaks  ended\n"
        "worst    rank 3  n1 NPU 3                 43.0 GiB  43.0 GiB       0 B  status 1 at step 2\n"
        "median   rank 1  n1 NPU 1                 41.0 GiB  41.0 GiB       0 B  status 1 at step 2\n"
        "ok       fragmentation 2.5 %, no misuse\n"
        "not judged  leaks: 2 of 3 steps seen, 1 more needed; pool hit rate: no request after the warm-up,\n"
        "         1 needed\n"
        "next     npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n",
        "job.db   4 个输入，train.py，4 个进程，2 步，失败：4 个中的 4 个，先后不明，无丢失\n"
        "各rank                             峰值 / 64.0 GiB      预留      泄漏  结束\n"
        "最高     rank 3  n1 NPU 3                 43.0 GiB  43.0 GiB       0 B  退出码 1（第 2 步）\n"
        "中位     rank 1  n1 NPU 1                 41.0 GiB  41.0 GiB       0 B  退出码 1（第 2 步）\n"
        "正常     碎片率 2.5 %，无误用\n"
        "未判定   泄漏：已见 3 步中的 2 步，还需 1 步；内存池命中率：预热后无请求，至少需要 1 个\n"
        "下一步   npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n");
    sqlite3_close(db);
}
END_TEST

/* ---- Many
 * --------------------------------------------------------------------------------------------------------
 */

/* 512 ranks of 64 hosts: 137 is out of memory first, every fourth after it, all
 * others end with status 1. All but two leak 16 MiB a step at data.py:41, and
 * rank 300 holds 8 GiB more than the others at gather.py:2. */
static void say_512(void)
{
    char host[16];

    begin();
    for (int i = 0; i < 512; i++) {
        snprintf(host, sizeof host, "n%02d", i / 8);
        say_process(i, i, 512, host);
    }
    for (int i = 0; i < 512; i++)
        say_pool(i, 40 * GIB, 30 * GIB);
    say_event("alloc heap=602 address=0x880000000 block=%" PRId64 " thread=301 stack=3\n", 8 * GIB);
    for (int step = 1; step <= 6; step++)
        for (int i = 0; i < 512; i++) {
            say_step(i, step);
            if (i != 7 && i != 407)
                say_event("alloc heap=%d address=0xa9%d000000 block=%" PRId64 " thread=%d stack=2\n", 2 * i + 2, step,
                          16 * MIB, i + 1);
        }
    say_out_of_memory(137);
    for (int i = 0; i < 512; i++)
        if (i % 4 == 0)
            say_out_of_memory(i);
    for (int i = 0; i < 512; i++)
        say_end(i, "exit", 1);
}

static void expect_fitting(const char *screen)
{
    int row_count = 0;

    for (const char *row = screen; *row != 0; row += strcspn(row, "\n") + 1) {
        size_t len = strcspn(row, "\n");

        ck_assert_msg(nm_cells_fit(row, len, NM_SCREEN_CELLS) == len, "%.*s", (int)len, row);
        row_count++;
    }
    ck_assert_int_le(row_count, NM_SCREEN_ROWS_MAX);
}

START_TEST(five_hundred_and_twelve_ranks)
{
    sqlite3 *db;

    say_512();
    db = draft_load((uint64_t)event_count);
    for (int language = NM_ENGLISH; language <= NM_CHINESE; language++) {
        char *screen = show(db, (nm_language)language);

        expect_fitting(screen);
        free(screen);
    }
    ck_assert_int_eq(load_int(db, "SELECT (SELECT max(value) FROM health WHERE measure = "
                                  "'fragmentation' AND rank = 7)"
                                  " = (SELECT max(value) FROM health WHERE measure = 'fragmentation')"),
                     1);
    expect_screen(
        db,
        "run.zst  train.py, 512 processes, 6 steps, FAILED: rank 137 (n17 NPU 1) first, out of memory at step\n"
        "         6; 511 followed within 640.0 ms, nothing lost\n"
        "first    rank 137 (n17 NPU 1), pid 1137, at 7.2 s\n"
        "then     128 x out of memory, 383 x status 1\n"
        "1 ASKED  at least 2.0 GiB at model.py:88 forward, rank 137 NPU 1 at 7.2 s: failed for good; 128 more\n"
        "WHY      not known: this process held 40.0 GiB; how much of the device was free is not recorded\n"
        "HELD     ptaCaching used 30.1 GiB, ptaCaching free between blocks 9.9 GiB\n"
        "HOLDERS  30.0 GiB  model.py:88 forward, 1 live\n"
        "         96.0 MiB  data.py:41 collate, 6 live, LEAK, +16.0 MiB a step\n"
        "2 LEAK   47.8 GiB  data.py:41 collate, on 510 of 512, most on rank 0, up to +16.0 MiB a step,\n"
        "         3,060 blocks never freed\n"
        "warning  fragmentation on 511 of 512, worst rank 7: 25 %\n"
        "3 uneven rank 300, unlike the 511 others that hold the same elsewhere: +8.0 GiB at\n"
        "         gather.py:2 buffer\n"
        "         38.1 GiB at the peaks of its heaps, the median of its group is 30.1 GiB\n"
        "RANKS                             peak of 64.0 GiB  reserved     leaks  ended\n"
        "worst    rank 0  n00 NPU 0                40.0 GiB  40.0 GiB  96.0 MiB  out of memory at step 6\n"
        "median   rank 255  n31 NPU 7              40.0 GiB  40.0 GiB  96.0 MiB  status 1 at step 6\n"
        "first    rank 137  n17 NPU 1              40.0 GiB  40.0 GiB  96.0 MiB  out of memory at step 6\n"
        "ok       no misuse\n"
        "not judged  pool hit rate: no request after the warm-up, 1 needed\n"
        "next     npumem stack job.db oom    npumem report job.db    npumem whatif --suggest run.zst\n",
        "run.zst  train.py，512 个进程，6 步，失败：rank 137 (n17 NPU 1) 最先，内存不足（第 6 步）；511 个在\n"
        "         640.0 ms 内随后失败，无丢失\n"
        "最先     rank 137 (n17 NPU 1)，pid 1137，时间 7.2 s\n"
        "随后     128 个 内存不足，383 个 退出码 1\n"
        "1 请求   model.py:88 forward 至少请求 2.0 GiB，rank 137 NPU 1，时刻 7.2 s：最终失败；另有 128 次\n"
        "原因     未知：本进程占用 40.0 GiB；设备剩余多少没有记录\n"
        "占用     ptaCaching 已用 30.1 GiB，ptaCaching 块之间的空闲 9.9 GiB\n"
        "占用者   30.0 GiB  model.py:88 forward，1 个存活\n"
        "         96.0 MiB  data.py:41 collate，6 个存活，泄漏，每步 +16.0 MiB\n"
        "2 泄漏   47.8 GiB  data.py:41 collate，在 512 个中的 510 个上，rank 0 最多，每步最多 +16.0 MiB，\n"
        "         3,060 个块从未释放\n"
        "警告     碎片率：512 个中的 511 个，rank 7 最差：25 %\n"
        "3 不均   rank 300，与其余各处持有相同的其他 511 个不同：+8.0 GiB，位于 gather.py:2 buffer\n"
        "         其各堆峰值合计 38.1 GiB，该组中位数为 30.1 GiB\n"
        "各rank                             峰值 / 64.0 GiB      预留      泄漏  结束\n"
        "最高     rank 0  n00 NPU 0                40.0 GiB  40.0 GiB  96.0 MiB  内存不足（第 6 步）\n"
        "中位     rank 255  n31 NPU 7              40.0 GiB  40.0 GiB  96.0 MiB  退出码 1（第 6 步）\n"
        "最先     rank 137  n17 NPU 1              40.0 GiB  40.0 GiB  96.0 MiB  内存不足（第 6 步）\n"
        "正常     无误用\n"
        "未判定   内存池命中率：预热后无请求，至少需要 1 个\n"
        "下一步   npumem stack job.db oom    npumem report job.db    npumem whatif --suggest run.zst\n");
    sqlite3_close(db);
}
END_TEST

/* More processes than have a place each, and none has a rank: they go by their
 * pid. */
START_TEST(many_processes_without_ranks)
{
    begin();
    for (int i = 0; i < 9; i++)
        say_process(i, -1, 0, "n0");
    for (int i = 0; i < 9; i++)
        say_pool(i, (20 + i) * GIB, (19 + i) * GIB);
    say_end(4, "signal", 11);
    for (int i = 0; i < 9; i++)
        if (i != 4)
            say_end(i, "exit", 0);
    expect("run.zst  train.py, 9 processes, FAILED: pid 1004 (NPU 4) first, signal 11, nothing lost\n"
           "first    pid 1004 (NPU 4), at 18.0 ms\n"
           "PROCESS                           peak of 64.0 GiB  reserved     leaks  ended\n"
           "worst    pid 1008  NPU 0                  28.0 GiB  28.0 GiB       0 B  by itself (0)\n"
           "median   pid 1004  NPU 4                  24.0 GiB  24.0 GiB       0 B  signal 11\n"
           "first    pid 1004  NPU 4                  24.0 GiB  24.0 GiB       0 B  signal 11\n"
           "DEVICES                                       peak  capacity   holders\n"
           "         NPU 0                            48.0 GiB  64.0 GiB         2\n"
           "         NPU 7                            27.0 GiB  64.0 GiB         1\n"
           "         NPU 6                            26.0 GiB  64.0 GiB         1\n"
           "         NPU 5                            25.0 GiB  64.0 GiB         1 and 4 more\n"
           "ok       fragmentation 5.0 %, no misuse\n"
           "not judged  leaks: no steps known, 3 needed; pool hit rate: no request after the warm-up, 1 needed\n"
           "next     npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n",
           "run.zst  train.py，9 个进程，失败：pid 1004 (NPU 4) 最先，信号 11，无丢失\n"
           "最先     pid 1004 (NPU 4)，时间 18.0 ms\n"
           "各进程                             峰值 / 64.0 GiB      预留      泄漏  结束\n"
           "最高     pid 1008  NPU 0                  28.0 GiB  28.0 GiB       0 B  自行结束（退出码 0）\n"
           "中位     pid 1004  NPU 4                  24.0 GiB  24.0 GiB       0 B  信号 11\n"
           "最先     pid 1004  NPU 4                  24.0 GiB  24.0 GiB       0 B  信号 11\n"
           "各设备                                        峰值      容量    占用者\n"
           "         NPU 0                            48.0 GiB  64.0 GiB         2\n"
           "         NPU 7                            27.0 GiB  64.0 GiB         1\n"
           "         NPU 6                            26.0 GiB  64.0 GiB         1\n"
           "         NPU 5                            25.0 GiB  64.0 GiB         1 等另外 4 个\n"
           "正常     碎片率 5.0 %，无误用\n"
           "未判定   泄漏：未识别出步，至少需要 3 步；内存池命中率：预热后无请求，至少需要 1 个\n"
           "下一步   npumem report job.db    sqlite3 job.db 'SELECT * FROM catalog'\n");
}
END_TEST

TEST_SUITE(test_screen_ranks)
{
    TCase *test = tcase_create("screens");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, four_healthy_ranks);
    tcase_add_test(test, snapshots_of_ranks_do_not_end);
    tcase_add_test(test, a_process_without_a_number_is_called_by_none);
    tcase_add_test(test, one_was_out_of_memory_and_three_followed);
    tcase_add_test(test, missing_ranks_are_named);
    tcase_add_test(test, one_was_killed);
    tcase_add_test(test, clocks_of_hosts_are_believed_as_far_as_they_go);
    tcase_add_test(test, without_a_clock_nobody_was_first);
    tcase_add_test(test, five_hundred_and_twelve_ranks);
    tcase_add_test(test, many_processes_without_ranks);
    return draft_suite("screen of ranks", test);
}
