/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole screens of many ranks, in both languages, of recordings small enough that every figure in them is known, and of 512
 * ranks.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cells.h"
#include "report/screen.h"
#include "support/draft.h"
#include "support/load_text.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static int event_count;
static int64_t now_ns;

/* ---- A job ------------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    draft_begin();
    event_count = 0;
    now_ns = 0;
    draft_say("stack 1: /model.py:88:forward < /train.py:5:main\nstack 2: /data.py:41:collate < /train.py:8:main\n"
              "stack 3: /gather.py:2:buffer < /train.py:9:main\n");
}

/* A process of a job of so many ranks (0: it was not told), on an NPU of 64 GiB; the rank below 0: none. */
static void say_process(int index, int rank, int world_size, const char *host)
{
    int id = index + 1;

    draft_say("process %d pid=%d host=%s begin=0 command=\"python3 train.py\"", id, 1000 + index, host);
    draft_say(rank < 0 ? "\n" : " rank=%d", rank);
    draft_say(world_size > 0 ? " world_size=%d\n" : "\n", world_size);
    draft_say("device %d process=%d ordinal=0 physical=%d kind=npu capacity=%" PRId64 "\n", id, id, index % 8, 64 * GIB);
    draft_say("thread %d process=%d tid=%d\n", id, id, 1000 + index);
    draft_say("heap %d process=%d device=%d level=driver basis=block name=\"device memory\"\n", 2 * id - 1, id, id);
    draft_say("heap %d process=%d device=%d level=pool basis=block name=ptaCaching\n", 2 * id, id, id);
}

/* One event, a millisecond after the one before. */
#define say_event(...) (draft_say("@%" PRId64 " ", now_ns), draft_say(__VA_ARGS__), now_ns += 1000000, event_count++)

static void say_pool(int index, int64_t segment_bytes, int64_t block_bytes)
{
    say_event("alloc heap=%d address=0x100000000 block=%" PRId64 " thread=%d stack=1\n", 2 * index + 1, segment_bytes, index + 1);
    say_event("alloc heap=%d address=0x100000000 block=%" PRId64 " thread=%d stack=1\n", 2 * index + 2, block_bytes, index + 1);
}

static void say_step(int index, int number)
{
    say_event("step number=%d thread=%d\n", number, index + 1);
}

static void say_out_of_memory(int index)
{
    say_event("alloc_failed heap=%d requested=%" PRId64 " error=207001 thread=%d stack=1\n", 2 * index + 1, 2 * GIB, index + 1);
}

static void say_end(int index, const char *kind, int status)
{
    say_event("process_end process=%d detail=%s error=%d\n", index + 1, kind, status);
}

/* Four ranks of one host with 40 GiB each, two steps: until before their end. */
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

/* ---- Screens ----------------------------------------------------------------------------------------------------- */

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

__attribute__((unused)) static void expect_screen(sqlite3 *db, const char *english, const char *chinese)
{
    char *shown = show(db, NM_ENGLISH);

    ck_assert_str_eq(shown, english);
    free(shown);
    shown = show(db, NM_CHINESE);
    ck_assert_str_eq(shown, chinese);
    free(shown);
}

START_TEST(four_healthy_ranks)
{
    say_four(4);
    for (int i = 0; i < 4; i++)
        say_end(i, "exit", 0);
    sqlite3 *db = draft_load((uint64_t)event_count);
    printf("%s\n%s\n",show(db,0),show(db,1));
    sqlite3_close(db);
}
END_TEST

START_TEST(x2)
{
    say_four(8);
    say_out_of_memory(2);
    say_end(3, "signal", 6);
    say_end(1, "exit", 1);
    say_end(0, "exit", 1);
    say_end(2, "exit", 1);
    sqlite3 *db = draft_load((uint64_t)event_count);
    printf("%s\n%s\n",show(db,0),show(db,1));
    sqlite3_close(db);
}
END_TEST

int main(void)
{
    TCase *test = tcase_create("screens");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, four_healthy_ranks);
    tcase_add_test(test, x2);
    return draft_run("screen of ranks", test);
}
