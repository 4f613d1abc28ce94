/* SPDX-License-Identifier: Apache-2.0
 *
 * The view is walked once; all else is counted here, where 512 ranks are few.
 */
#include "report/rank_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "report/ranks.sql.h"
#include "report/worlds.sql.h"

/* The place of the word, from 1; 0: it is none of them. */
static int place_of(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return i + 1;
    return 0;
}

static void read_end(const nm_ranks_row *row, nm_rank *out)
{
    static const char *const failures[] = {"out of memory", "resources", "signal", "status"};
    static const char *const orders[] = {"first", "same time", "followed"};

    out->failure = (nm_rank_failure)place_of(row->failure, failures, 4);
    out->order = (nm_rank_order)place_of(row->failure_order, orders, 3);
    if (out->failure != NM_FAILURE_NONE)
        out->end = NM_RANK_FAILED;
    else if (row->is_snapshot)
        out->end = row->is_other ? NM_RANK_OTHER : NM_RANK_SNAPSHOT;
    else
        out->end = strcmp(row->end_kind, "exit") == 0 && row->end_status == 0 ? NM_RANK_DONE : NM_RANK_UNSEEN;
}

static void read_rank(const nm_ranks_row *row, nm_rank *out)
{
    *out = (nm_rank){.rank = row->rank,
                     .pid = row->pid,
                     .device_count = row->device_count,
                     .device = row->device,
                     .peak_bytes = row->peak_bytes,
                     .reserved_bytes = row->reserved_bytes,
                     .leak_bytes = row->leak_bytes,
                     .job = row->job_number,
                     .end_status = row->end_status,
                     .step = row->failed_step,
                     .out_of_memory_id = row->out_of_memory_id,
                     .failed_ns = row->failed_ns,
                     .since_first_ns = row->since_first_ns,
                     .doubt_ns = row->doubt_ns,
                     .failed_realtime_ns = row->failed_realtime_ns,
                     .input_id = row->input_id};
    snprintf(out->host, sizeof out->host, "%s", row->host);
    snprintf(out->failed_at, sizeof out->failed_at, "%s", row->failed_at);
    read_end(row, out);
}

static nm_status read_ranks(sqlite3 *db, nm_rank_list *list, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_ranks_row row;
    nm_status status = nm_ranks_ask(db, &rows, err);

    while (status == NM_OK && nm_ranks_next(rows, &row)) {
        status = nm_array_grow(&list->ranks, &list->capacity, list->count + 1, sizeof *list->ranks, err);
        if (status == NM_OK)
            read_rank(&row, &list->ranks[list->count++]);
    }
    return nm_question_end(rows, status, err);
}

static nm_status read_facts(sqlite3 *db, nm_rank_list *list, nm_error *err)
{
    nm_worlds_row row;
    nm_status status = nm_worlds_get(db, &row, err);

    list->host_count = row.host_count;
    list->input_count = row.input_count;
    list->world_size = row.world_count;
    list->rank_count = row.rank_count;
    list->capacity_bytes = row.capacity_bytes;
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
        list->snapshot_count += rank->end == NM_RANK_SNAPSHOT || rank->end == NM_RANK_OTHER;
        list->other_count += rank->end == NM_RANK_OTHER;
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
