/* SPDX-License-Identifier: Apache-2.0
 *
 * What SQLite takes to insert the rows of the large tables of a database as programs do it: a statement that is compiled once,
 * each value bound, no journal, one transaction, no index. Rows are read into memory a few at a time, which is not counted.
 *
 *     insert_bench FROM.db TO.db       prints "ROWS SECONDS_OF_THE_PROCESSOR"
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "store/schema.h"

#define COLUMNS_MAX 64
#define BATCH_ROWS  4096

typedef struct cell {
    int64_t value;
    bool is_null;
} cell;

static cell batch[BATCH_ROWS][COLUMNS_MAX];
static sqlite3 *from, *to;
static uint64_t row_count;
static double seconds;

static double now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void must(bool is_right)
{
    if (is_right)
        return;
    fprintf(stderr, "insert_bench: %s; %s\n", sqlite3_errmsg(from), sqlite3_errmsg(to));
    exit(1);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *format, const char *name)
{
    char *sql = sqlite3_mprintf(format, name);
    sqlite3_stmt *statement = NULL;

    must(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
    sqlite3_free(sql);
    return statement;
}

static int read_batch(sqlite3_stmt *rows, int column_count)
{
    int count = 0;

    while (count < BATCH_ROWS && sqlite3_step(rows) == SQLITE_ROW) {
        for (int i = 0; i < column_count; i++)
            batch[count][i] = (cell){sqlite3_column_int64(rows, i), sqlite3_column_type(rows, i) == SQLITE_NULL};
        count++;
    }
    return count;
}

static void insert_batch(sqlite3_stmt *insert, int column_count, int count)
{
    double begin = now_seconds();

    for (int row = 0; row < count; row++) {
        for (int i = 0; i < column_count; i++) {
            if (batch[row][i].is_null)
                sqlite3_bind_null(insert, i + 1);
            else
                sqlite3_bind_int64(insert, i + 1, batch[row][i].value);
        }
        must(sqlite3_step(insert) == SQLITE_DONE);
        sqlite3_reset(insert);
    }
    seconds += now_seconds() - begin;
    row_count += (uint64_t)count;
}

static void copy_table(const char *name, const char *create)
{
    sqlite3_stmt *rows = prepare(from, "SELECT * FROM %s", name), *insert = NULL;
    int column_count = sqlite3_column_count(rows);
    char marks[2 * COLUMNS_MAX + 64];
    int length = snprintf(marks, sizeof marks, "INSERT INTO %s VALUES (?", name);

    must(column_count <= COLUMNS_MAX && sqlite3_exec(to, create, NULL, NULL, NULL) == SQLITE_OK);
    for (int i = 1; i < column_count; i++)
        length += snprintf(marks + length, sizeof marks - (size_t)length, ",?");
    snprintf(marks + length, sizeof marks - (size_t)length, ")");
    insert = prepare(to, "%s", marks);
    for (int count = BATCH_ROWS; count == BATCH_ROWS;) { /* a step behind the last row would begin again */
        count = read_batch(rows, column_count);
        insert_batch(insert, column_count, count);
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(insert);
}

int main(int argument_count, char **arguments)
{
    static const char settings[] = "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                   " PRAGMA locking_mode = EXCLUSIVE; BEGIN";

    if (argument_count != 3)
        return 2;
    unlink(arguments[2]);
    must(sqlite3_open_v2(arguments[1], &from, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    must(sqlite3_open(arguments[2], &to) == SQLITE_OK);
    must(sqlite3_exec(to, settings, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_stmt *tables =
        prepare(from, "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name IN (%s)", NM_LARGE_TABLES_SQL);
    while (sqlite3_step(tables) == SQLITE_ROW)
        copy_table((const char *)sqlite3_column_text(tables, 0), (const char *)sqlite3_column_text(tables, 1));
    sqlite3_finalize(tables);
    double begin = now_seconds();
    must(sqlite3_exec(to, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    seconds += now_seconds() - begin;
    sqlite3_close(from);
    sqlite3_close(to);
    printf("%" PRIu64 " %.3f\n", row_count, seconds);
    return 0;
}
