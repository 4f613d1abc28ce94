/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounds on what a database of somebody else may cost. Its pages and rows may be anything: trees that lead back into
 * themselves, texts without end, a schema that never stops. SQLite survives that; these bounds end it. They follow the size
 * of the file, and sound databases of every kind stay far below them.
 */
#ifndef NM_STORE_READ_LIMIT_H
#define NM_STORE_READ_LIMIT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define NM_READ_LIMIT_TEXT_BYTES_MAX (1 << 20) /* of one text, one row, one statement */

typedef struct nm_read_limit {
    sqlite3 *db; /* NULL: not in use */
    int64_t steps_left;
    int64_t ticks_left; /* of processor time, once it is spent; see read_limit.c */
    int old_text_bytes_max, old_sql_bytes_max;
    volatile bool rests; /* no time is counted */
} nm_read_limit;

/*
 * From now on statements of the connection fail with SQLITE_INTERRUPT (nm_db_fail says it in words) when together they have
 * done more than databases of `file_bytes` need, and with SQLITE_TOOBIG at a text beyond NM_READ_LIMIT_TEXT_BYTES_MAX. `guard` is
 * the caller's and stays in its place until nm_read_limit_end. Takes over the progress handler of the connection, and SIGPROF.
 */
void nm_read_limit_begin(nm_read_limit *guard, sqlite3 *db, uint64_t file_bytes);

/* What the file at `path` holds, holes left out. 0: it cannot be said. */
uint64_t nm_read_limit_file_bytes(const char *path);

/* A second file is read as well. */
void nm_read_limit_more(nm_read_limit *guard, uint64_t file_bytes);

/* While it rests, time that passes is not that of this connection, but of other work that reads none of it. */
void nm_read_limit_rest(const sqlite3 *db, bool rests);

/* Calls tell(context) now and then while a bounded connection works, of all there are; NULL: no longer. */
void nm_read_limit_tell(void (*tell)(void *context), void *context);

/* Does so once: for work on its file that is none of the connection's own. */
void nm_read_limit_note(void);

/* To be called before the connection is closed. A guard that was never begun is fine. */
void nm_read_limit_end(nm_read_limit *guard);

/* Bounds the memory of SQLite in this process, from now on, by what one more such file needs. For programs that only read. */
void nm_read_limit_heap(uint64_t file_bytes);

/* No longer: for one that lives on when its files are closed. */
void nm_read_limit_heap_end(void);

#endif
