/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounds on what a database of somebody else may cost. Its pages and rows may be anything: trees that lead back into
 * themselves, texts without end, a schema that never stops. SQLite survives that; these bounds end it. They follow the size
 * of the file, and sound databases of every kind stay far below them.
 */
#ifndef NM_STORE_GUARD_H
#define NM_STORE_GUARD_H

#include <sqlite3.h>
#include <stdint.h>

#define NM_GUARD_TEXT_BYTES_MAX (1 << 20) /* of one text, one row, one statement */

typedef struct nm_guard {
    sqlite3 *db; /* NULL: not in use */
    int64_t steps_left;
    int64_t ticks_left; /* of processor time, once it is spent; see guard.c */
    int old_text_bytes_max, old_sql_bytes_max;
} nm_guard;

/*
 * From now on statements of the connection fail with SQLITE_INTERRUPT (nm_db_fail says it in words) when together they have
 * done more than databases of `file_bytes` need, and with SQLITE_TOOBIG at a text beyond NM_GUARD_TEXT_BYTES_MAX. `guard` is
 * the caller's and stays in its place until nm_guard_end. Takes over the progress handler of the connection, and SIGPROF.
 */
void nm_guard_begin(nm_guard *guard, sqlite3 *db, uint64_t file_bytes);

/* What the file at `path` holds, holes left out. 0: it cannot be said. */
uint64_t nm_guard_file_bytes(const char *path);

/* A second file is read as well. */
void nm_guard_more(nm_guard *guard, uint64_t file_bytes);

/* To be called before the connection is closed. A guard that was never begun is fine. */
void nm_guard_end(nm_guard *guard);

/* Bounds the memory of SQLite in this process, from now on, by what one more such file needs. For programs that only read. */
void nm_guard_heap(uint64_t file_bytes);

#endif
