/* SPDX-License-Identifier: Apache-2.0
 *
 * The view is walked once; all else is counted here, where 512 ranks are few.
 */
#include "report/rank_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/database.h"

/* A row a process: of several devices the sums. */
#define RANKS                                                                                                          \
    "SELECT host, rank, pid, count(device), min(device), sum(peak_bytes), sum(pool_peak_reserved_bytes),"              \
    " sum(leak_bytes), end_kind, end_status, failure, failure_order, job, failed_step, out_of_memory_id, failed_ns,"   \
    " since_first_ns, clock_uncertainty_ns,"                                                                           \
    " strftime('%Y-%m-%d %H:%M:%S', failed_realtime_ns / 1000000000, 'unixepoch'), failed_realtime_ns,"                \
    " (SELECT p.input_id FROM process AS p WHERE p.process_id = _rank_summary.process_id)"                             \
    " FROM _rank_summary GROUP BY process_id ORDER BY rank IS NULL, rank, process_id"

/* The size of the world where all agree, and no rank is outside of it. */
#define FACTS                                                                                                          \
    "SELECT (SELECT count(DISTINCT host) FROM process), (SELECT count(*) FROM input),"                                 \
    " (SELECT CASE WHEN min(world_size) = max(world_size) AND max(rank) < max(world_size) AND min(rank) >= 0"          \
    " THEN max(world_size) ELSE 0 END FROM process WHERE rank IS NOT NULL), (SELECT count(DISTINCT rank) FROM "        \
    "process),"                                                                                                        \
    " (SELECT CASE WHEN min(capacity_bytes) = max(capacity_bytes) AND count(capacity_bytes) = count(*)"                \
    " AND count(DISTINCT process_id) = count(*) THEN max(capacity_bytes) ELSE 0 END FROM device)"

static int64_t number_or(sqlite3_stmt *row, int column, int64_t other)
{
    return nm_db_is_null(row, column) ? other : sqlite3_column_int64(row, column);
}

/* The place of the word, from 1; 0: it is none of them. */
static int place_of(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return i + 1;
    return 0;
}

static void read_end(sqlite3_stmt *row, nm_rank *out)
{
    static const char *const failures[] = {"out of memory", "resources", "signal", "status"};
    static const char *const orders[] = {"first", "same time", "followed"};

    out->failure = (nm_rank_failure)place_of(nm_db_text(row, 10), failures, 4);
    out->order = (nm_rank_order)place_of(nm_db_text(row, 11), orders, 3);
    out->end_status = number_or(row, 9, -1);
    if (out->failure != NM_FAILURE_NONE)
        out->end = NM_RANK_FAILED;
    else
        out->end = strcmp(nm_db_text(row, 8), "exit") == 0 && out->end_status == 0 ? NM_RANK_DONE : NM_RANK_UNSEEN;
}

static void read_rank(sqlite3_stmt *row, nm_rank *out)
{
    snprintf(out->host, sizeof out->host, "%s", nm_db_text(row, 0));
    out->rank = number_or(row, 1, -1);
    out->pid = number_or(row, 2, -1);
    out->device_count = sqlite3_column_int64(row, 3);
    out->device = number_or(row, 4, -1);
    out->peak_bytes = number_or(row, 5, -1);
    out->reserved_bytes = number_or(row, 6, -1);
    out->leak_bytes = number_or(row, 7, -1);
    read_end(row, out);
    out->job = sqlite3_column_int64(row, 12);
    out->step = number_or(row, 13, -1);
    out->out_of_memory_id = number_or(row, 14, 0);
    out->failed_ns = number_or(row, 15, -1);
    out->since_first_ns = number_or(row, 16, -1);
    out->doubt_ns = number_or(row, 17, -1);
    snprintf(out->failed_at, sizeof out->failed_at, "%s", nm_db_text(row, 18));
    out->failed_realtime_ns = number_or(row, 19, -1);
    out->input_id = sqlite3_column_int64(row, 20);
}

static nm_status read_ranks(sqlite3 *db, nm_rank_list *list, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, RANKS, &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        status = nm_array_grow(&list->ranks, &list->capacity, list->count + 1, sizeof *list->ranks, err);
        if (status == NM_OK)
            read_rank(rows, &list->ranks[list->count++]);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

static nm_status read_facts(sqlite3 *db, nm_rank_list *list, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(db, FACTS, &row, err);

    if (status == NM_OK && sqlite3_step(row) != SQLITE_ROW)
        status = nm_db_fail(db, err);
    if (status == NM_OK) {
        list->host_count = sqlite3_column_int64(row, 0);
        list->input_count = sqlite3_column_int64(row, 1);
        list->world_size = number_or(row, 2, 0);
        list->rank_count = sqlite3_column_int64(row, 3);
        list->capacity_bytes = number_or(row, 4, 0);
    }
    sqlite3_finalize(row);
    return status;
}

/* ---- Who failed ---- */

static int64_t failures_of_job(const nm_rank_list *list, int64_t job)
{
    int64_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += list->ranks[i].job == job && list->ranks[i].end == NM_RANK_FAILED;
    return count;
}

/* Of several jobs the one with the most failures. There are few: a rank that is in two inputs makes each input one. */
static void find_first(nm_rank_list *list)
{
    int64_t most = 0;

    for (size_t i = 0; i < list->count; i++) {
        const nm_rank *rank = &list->ranks[i];

        if (rank->order != NM_ORDER_FIRST || rank->end != NM_RANK_FAILED)
            continue;
        int64_t count = failures_of_job(list, rank->job);

        if (count > most) {
            most = count;
            list->first = rank;
        }
    }
}

static void count_ends(nm_rank_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const nm_rank *rank = &list->ranks[i];

        list->unseen_count += rank->end == NM_RANK_UNSEEN;
        if (rank->end != NM_RANK_FAILED || (list->first != NULL && rank->job != list->first->job))
            continue;
        list->failed_count++;
        list->same_count += rank->order == NM_ORDER_SAME_TIME;
        list->followed_count += rank->order == NM_ORDER_FOLLOWED;
        list->unknown_count += rank->order == NM_ORDER_UNKNOWN;
        if (rank->order == NM_ORDER_FOLLOWED && rank->since_first_ns > list->followed_ns)
            list->followed_ns = rank->since_first_ns;
        if (rank->doubt_ns > list->doubt_ns)
            list->doubt_ns = rank->doubt_ns;
    }
}

/* ---- How full ---- */

/* By peak, of equal ones in their order. */
static int compare_peaks(const void *a, const void *b)
{
    const nm_rank *left = *(nm_rank *const *)a, *right = *(nm_rank *const *)b;

    if (left->peak_bytes != right->peak_bytes)
        return left->peak_bytes < right->peak_bytes ? -1 : 1;
    return left < right ? -1 : left > right;
}

static nm_status find_peaks(nm_rank_list *list, nm_error *err)
{
    const nm_rank **sorted = NULL;
    size_t capacity = 0, count = 0;
    nm_status status = nm_array_grow(&sorted, &capacity, list->count + 1, sizeof(nm_rank *), err);

    for (size_t i = 0; status == NM_OK && i < list->count; i++)
        if (list->ranks[i].peak_bytes >= 0)
            sorted[count++] = &list->ranks[i];
    if (count > 0) {
        qsort(sorted, count, sizeof(nm_rank *), compare_peaks);
        list->median = sorted[(count - 1) / 2];
        for (list->worst = sorted[count - 1]; count > 0; count--) /* of equal ones the first */
            if (sorted[count - 1]->peak_bytes == list->worst->peak_bytes)
                list->worst = sorted[count - 1];
    }
    free(sorted);
    return status;
}

nm_status nm_rank_list_read(sqlite3 *db, nm_rank_list **out, nm_error *err)
{
    nm_rank_list *list = calloc(1, sizeof *list);
    nm_status status;

    *out = list;
    if (list == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    status = read_facts(db, list, err);
    if (status == NM_OK)
        status = read_ranks(db, list, err);
    if (status == NM_OK)
        status = find_peaks(list, err);
    find_first(list);
    count_ends(list);
    return status;
}

nm_status nm_rank_list_add(nm_rank_list *list, sqlite3 *db, int64_t database, nm_error *err)
{
    size_t begin = list->count;
    nm_status status = read_ranks(db, list, err);

    for (size_t i = begin; i < list->count; i++)
        list->ranks[i].database = database;
    return status;
}

static int compare_ranks(const void *a, const void *b)
{
    const nm_rank *left = a, *right = b;

    if ((left->rank < 0) != (right->rank < 0))
        return left->rank < 0 ? 1 : -1;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->database > right->database) - (left->database < right->database);
}

nm_status nm_rank_list_choose(nm_rank_list *list, nm_error *err)
{
    if (list->count > 0)
        qsort(list->ranks, list->count, sizeof *list->ranks, compare_ranks);
    for (size_t i = 0; i < list->count; i++) {
        const nm_rank *rank = &list->ranks[i];

        if (rank->end == NM_RANK_FAILED && rank->failed_realtime_ns >= 0 &&
            (list->first == NULL || rank->failed_realtime_ns < list->first->failed_realtime_ns))
            list->first = rank;
    }
    return find_peaks(list, err);
}

void nm_rank_list_free(nm_rank_list *list)
{
    if (list == NULL)
        return;
    free(list->ranks);
    free(list);
}
