/* SPDX-License-Identifier: Apache-2.0
 *
 * Work is counted in steps of SQLite's virtual machine, which are the same on every machine. A step may itself be long: to
 * count the rows of a table is one, and in a tree that is none it has no end. So processor time is bounded too, by a timer
 * whose signal does what SQLite allows a signal to do: sqlite3_interrupt.
 */
#include "store/read_limit.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/door.h"

#define STEPS_BETWEEN_LOOKS 10000
#define STEPS_FREE          (INT64_C(10) * 1000 * 1000)
#define STEPS_PER_BYTE      10
#define TICK_USECONDS       50000
#define TICKS_FREE          100         /* 5 s */
#define BYTES_PER_TICK      (512 << 10) /* 0.1 s for each MiB */
#define FILE_BYTES_MAX      (UINT64_C(1) << 50)
#define HEAP_BYTES_FREE     (INT64_C(128) << 20)
#define HEAP_BYTES_MAX      (INT64_C(1) << 30)
#define GUARDS_MAX          4

static nm_read_limit *volatile guards[GUARDS_MAX]; /* that the signal looks at; changed with it blocked */
static void (*tell_now)(void *context);            /* who shows that there is work; or NULL */
static void *tell_context;

/* A file system that compresses may have put eight bytes into one. */
uint64_t nm_read_limit_file_bytes(const char *path)
{
    struct stat info;

    if (!nm_door_look(path, &info) || info.st_size < 0)
        return 0;
    uint64_t held_bytes = (uint64_t)info.st_blocks * 512 * 8;
    return (uint64_t)info.st_size < held_bytes ? (uint64_t)info.st_size : held_bytes;
}

static int64_t bounded(uint64_t file_bytes)
{
    return (int64_t)(file_bytes < FILE_BYTES_MAX ? file_bytes : FILE_BYTES_MAX);
}

static int is_spent(void *context)
{
    nm_read_limit *guard = context;

    nm_read_limit_note();
    guard->steps_left -= STEPS_BETWEEN_LOOKS;
    return guard->steps_left < 0;
}

static void note_tick(int signal_number)
{
    (void)signal_number;
    for (size_t i = 0; i < GUARDS_MAX; i++) {
        nm_read_limit *guard = guards[i];

        if (guard != NULL && !guard->rests && guard->ticks_left-- <= 0)
            sqlite3_interrupt(guard->db);
    }
}

static void change_list(const nm_read_limit *from, nm_read_limit *to)
{
    sigset_t set, old;

    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigprocmask(SIG_BLOCK, &set, &old);
    for (size_t i = 0; i < GUARDS_MAX; i++)
        if (guards[i] == from) {
            guards[i] = to;
            break;
        }
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void set_timer(suseconds_t every_useconds)
{
    struct itimerval timer = {{0, every_useconds}, {0, every_useconds}};
    struct sigaction action = {.sa_handler = note_tick, .sa_flags = SA_RESTART};

    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
}

void nm_read_limit_begin(nm_read_limit *guard, sqlite3 *db, uint64_t file_bytes)
{
    *guard = (nm_read_limit){.db = db, .steps_left = STEPS_FREE, .ticks_left = TICKS_FREE};
    nm_read_limit_more(guard, file_bytes);
    guard->old_text_bytes_max = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, NM_READ_LIMIT_TEXT_BYTES_MAX);
    guard->old_sql_bytes_max = sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, NM_READ_LIMIT_TEXT_BYTES_MAX);
    sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, is_spent, guard);
    change_list(NULL, guard);
    set_timer(TICK_USECONDS);
}

void nm_read_limit_more(nm_read_limit *guard, uint64_t file_bytes)
{
    guard->steps_left += bounded(file_bytes) * STEPS_PER_BYTE;
    guard->ticks_left += bounded(file_bytes) / BYTES_PER_TICK;
}

void nm_read_limit_rest(const sqlite3 *db, bool rests)
{
    for (size_t i = 0; i < GUARDS_MAX; i++)
        if (guards[i] != NULL && guards[i]->db == db)
            guards[i]->rests = rests;
}

void nm_read_limit_tell(void (*tell)(void *context), void *context)
{
    tell_now = tell;
    tell_context = context;
}

void nm_read_limit_note(void)
{
    if (tell_now != NULL)
        tell_now(tell_context);
}

void nm_read_limit_end(nm_read_limit *guard)
{
    bool is_last = true;

    if (guard->db == NULL)
        return;
    change_list(guard, NULL);
    for (size_t i = 0; i < GUARDS_MAX; i++)
        is_last = is_last && guards[i] == NULL;
    if (is_last)
        set_timer(0);
    sqlite3_progress_handler(guard->db, 0, NULL, NULL);
    sqlite3_limit(guard->db, SQLITE_LIMIT_LENGTH, guard->old_text_bytes_max);
    sqlite3_limit(guard->db, SQLITE_LIMIT_SQL_LENGTH, guard->old_sql_bytes_max);
    guard->db = NULL;
}

static int64_t heap_limit(int64_t bytes)
{
#if SQLITE_VERSION_NUMBER >= 3031000
    return sqlite3_hard_heap_limit64(bytes);
#else
    return sqlite3_soft_heap_limit64(bytes);
#endif
}

void nm_read_limit_heap(uint64_t file_bytes)
{
    int64_t bytes = heap_limit(-1);

    bytes = (bytes == 0 ? HEAP_BYTES_FREE : bytes) + bounded(file_bytes) / 4;
    heap_limit(bytes < HEAP_BYTES_MAX ? bytes : HEAP_BYTES_MAX);
}

void nm_read_limit_heap_end(void)
{
    heap_limit(0);
}
