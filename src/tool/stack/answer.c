/* SPDX-License-Identifier: Apache-2.0
 *
 * A question is a statement whose rows are a stack, bytes, how many allocations they are, what they are in words, and where.
 * Rows of one stack that stand one behind the other have its frames once, below the last of them.
 */
#include "tool/stack/answer.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/human.h"
#include "store/database.h"
#include "tool/stack/print.h"

#define TEXT_BYTES   256
#define HEAP_COLUMNS 40

typedef struct run {
    const stack_options *options;
    sqlite3 *db; /* borrowed */
    bool has_color;
    int64_t printed_count, left_count; /* stacks */
    bool has_stack;                    /* one was begun, and: */
    bool has_frames;
    sqlite3_int64 stack_id, left_stack_id;
} run;

/* ---- Questions ----------------------------------------------------------------------------------------------------- */

/* ?1: the rank, ?2: the stack, ?3: a part of the site's name; each is NULL where that does not matter. */
#define CHOSEN                                                                                                         \
    " JOIN _heap_place AS p ON p.heap_id = q.heap_id WHERE (?1 IS NULL OR p.rank IS ?1) AND (?2 IS NULL OR q.stack_id" \
    " = ?2) AND (?3 IS NULL OR q.stack_id IN (SELECT s.stack_id FROM stack AS s JOIN frame AS f ON f.frame_id ="       \
    " s.site_frame_id WHERE instr(f.label, ?3) > 0))"

#define LEAKED                                                                                                         \
    "SELECT q.stack_id, sum(q.leak_count * q.size_bytes), sum(q.leak_count), 'leaked (' || q.verdict || ')', p.rank,"  \
    " p.pid, p.device, coalesce(p.heap, p.level), q.heap_id FROM _leaked_sum AS q" CHOSEN                              \
    " GROUP BY q.heap_id, q.stack_id, q.verdict"
#define AT_PEAK                                                                                                        \
    "SELECT q.stack_id, sum(q.live_bytes), sum(q.live_count), 'live at the peak', p.rank, p.pid, p.device,"            \
    " coalesce(p.heap, p.level), q.heap_id FROM _peak_stack AS q" CHOSEN                                               \
    " AND q.is_baseline = 0 GROUP BY q.heap_id, q.stack_id"
#define ALLOCATED                                                                                                      \
    "SELECT q.stack_id, q.allocated_bytes, q.allocation_count, 'allocated', p.rank, p.pid, p.device,"                  \
    " coalesce(p.heap, p.level), q.heap_id FROM _stack_sum AS q" CHOSEN

static const char leak_sql[] = LEAKED " ORDER BY 2 DESC, 9, 1";
static const char peak_sql[] = AT_PEAK " ORDER BY 2 DESC, 9, 1";
static const char site_sql[] = ALLOCATED " ORDER BY 2 DESC, 9, 1";

/* What is known of it, or just that it is there. */
static const char id_sql[] =
    "SELECT * FROM (SELECT * FROM (" ALLOCATED ") UNION ALL SELECT * FROM (" AT_PEAK
    ") UNION ALL SELECT * FROM (" LEAKED
    ") UNION ALL SELECT stack_id, NULL, NULL, 'no sum is kept of it', NULL, NULL, NULL, NULL, NULL FROM stack"
    " WHERE stack_id = ?2 AND NOT EXISTS (SELECT 1 FROM _stack_sum WHERE stack_id = ?2))"
    " ORDER BY 9, 4";

/* The requests that failed, in their order, then what was held before the first of them. */
static const char oom_sql[] =
    "SELECT * FROM (SELECT q.stack_id AS stack_id, coalesce(q.tried_bytes, q.at_least_tried_bytes), NULL,"
    " 'asked for: out of memory, ' || q.outcome, p.rank, p.pid, p.device, coalesce(p.heap, p.level), 0 AS part,"
    " q.out_of_memory_chain_id AS place"
    " FROM _out_of_memory_chain AS q LEFT JOIN _heap_place AS p ON p.heap_id = q.heap_id"
    " WHERE ?1 IS NULL OR p.rank IS ?1"
    " UNION ALL SELECT q.stack_id, q.live_bytes, q.live_count, 'held when it failed',"
    " p.rank, p.pid, p.device, coalesce(p.heap, p.level), 1, -q.live_bytes"
    " FROM _out_of_memory_stack AS q JOIN _heap_place AS p ON p.heap_id = q.heap_id AND (?1 IS NULL OR p.rank IS ?1)"
    " WHERE q.is_rest = 0 AND q.is_baseline = 0 AND q.out_of_memory_chain_id = ("
    "SELECT min(c.out_of_memory_chain_id) FROM _out_of_memory_chain AS c"
    " LEFT JOIN _heap_place AS h ON h.heap_id = c.heap_id WHERE ?1 IS NULL OR h.rank IS ?1))"
    " ORDER BY part, place, stack_id";

/* ---- Rows ---------------------------------------------------------------------------------------------------------- */

/* "rank 3, NPU 0, caching pool" */
static void write_place(sqlite3_stmt *row, char out[TEXT_BYTES])
{
    char heap[4 * HEAP_COLUMNS + 4];
    int length = 0;

    out[0] = 0;
    if (!nm_db_is_null(row, 4))
        length = snprintf(out, TEXT_BYTES, ", rank %" PRId64, (int64_t)sqlite3_column_int64(row, 4));
    else if (!nm_db_is_null(row, 5))
        length = snprintf(out, TEXT_BYTES, ", pid %" PRId64, (int64_t)sqlite3_column_int64(row, 5));
    if (!nm_db_is_null(row, 6))
        length += snprintf(out + length, TEXT_BYTES - (size_t)length, ", NPU %" PRId64,
                           (int64_t)sqlite3_column_int64(row, 6));
    nm_human_text(heap, sizeof heap, nm_db_text(row, 7), HEAP_COLUMNS);
    snprintf(out + length, TEXT_BYTES - (size_t)length, "%s%s", heap[0] == 0 ? "" : ", ", heap);
}

/* "1.5 KiB in 3 allocations, leaked (growing); stack 2, rank 0, NPU 2, caching pool" */
static void print_head(sqlite3_stmt *row)
{
    char bytes[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], words[TEXT_BYTES], place[TEXT_BYTES];

    nm_human_text(words, sizeof words, nm_db_text(row, 3), 60);
    write_place(row, place);
    if (!nm_db_is_null(row, 1))
        printf("%s", nm_human_bytes(bytes, sqlite3_column_int64(row, 1)));
    if (!nm_db_is_null(row, 2))
        printf(" in %s allocation%s", nm_human_count(count, sqlite3_column_int64(row, 2)),
               sqlite3_column_int64(row, 2) == 1 ? "" : "s");
    printf("%s%s", nm_db_is_null(row, 1) ? "" : ", ", words);
    if (nm_db_is_null(row, 0))
        printf("; no stack was recorded%s\n", place);
    else
        printf("; stack %" PRId64 "%s\n", (int64_t)sqlite3_column_int64(row, 0), place);
}

/* The frames of the stack whose heads are printed. */
static nm_status end_stack(run *r, nm_error *err)
{
    nm_status status = NM_OK;

    if (r->has_frames)
        status = stack_print_frames(r->db, r->stack_id, r->has_color, stdout, err);
    r->has_stack = r->has_frames = false;
    return status;
}

/* Rows of the same stack, one behind the other, have it once. */
static nm_status take_row(run *r, sqlite3_stmt *row, nm_error *err)
{
    bool has_frames = !nm_db_is_null(row, 0);
    sqlite3_int64 stack_id = sqlite3_column_int64(row, 0);
    bool is_same = r->has_frames && has_frames && stack_id == r->stack_id;
    nm_status status = NM_OK;

    if (r->left_count > 0 || (!is_same && r->printed_count >= r->options->top)) {
        r->left_count += r->left_count == 0 || !has_frames || stack_id != r->left_stack_id;
        r->left_stack_id = has_frames ? stack_id : -1;
        return NM_OK;
    }
    if (!is_same && r->has_stack)
        status = end_stack(r, err);
    if (status != NM_OK)
        return status;
    if (!is_same && r->printed_count > 0)
        putchar('\n');
    r->printed_count += !is_same;
    r->has_stack = true;
    r->has_frames = has_frames;
    r->stack_id = stack_id;
    print_head(row);
    return NM_OK;
}

static nm_status ask(run *r, const char *sql, nm_error *err)
{
    const stack_options *options = r->options;
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(r->db, sql, &rows, err);
    int code = SQLITE_DONE;

    if (status != NM_OK)
        return status;
    if (options->has_rank)
        sqlite3_bind_int64(rows, 1, options->rank);
    if (options->choice == STACK_BY_ID)
        sqlite3_bind_int64(rows, 2, (sqlite3_int64)options->stack_id);
    if (options->choice == STACK_BY_SITE)
        sqlite3_bind_text(rows, 3, options->site, -1, SQLITE_STATIC);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        status = take_row(r, rows, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(r->db, err);
    if (status == NM_OK)
        status = end_stack(r, err);
    sqlite3_finalize(rows);
    return status;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

static nm_status ask_chosen(run *r, nm_error *err)
{
    switch (r->options->choice) {
    case STACK_LEAK:
        return ask(r, leak_sql, err);
    case STACK_PEAK:
        return ask(r, peak_sql, err);
    case STACK_OOM:
        return ask(r, oom_sql, err);
    case STACK_BY_ID:
        return ask(r, id_sql, err);
    case STACK_BY_SITE:
        return ask(r, site_sql, err);
    default:
        break;
    }
    nm_status status = ask(r, leak_sql, err);
    return status == NM_OK && r->printed_count == 0 ? ask(r, peak_sql, err) : status;
}

static void print_end(const run *r)
{
    static const char *const nothing[] = {
        [STACK_DEFAULT] = "nothing leaked, and nothing was live",
        [STACK_LEAK] = "nothing leaked",
        [STACK_PEAK] = "nothing was live",
        [STACK_OOM] = "no request for memory failed",
        [STACK_BY_ID] = "there is no stack of that number",
        [STACK_BY_SITE] = "nothing was allocated at a site of that name",
    };
    char count[NM_HUMAN_BYTES];

    if (r->printed_count == 0)
        printf("%s\n", nothing[r->options->choice]);
    else if (r->left_count > 0)
        printf("\nand %s more (--top)\n", nm_human_count(count, r->left_count));
}

nm_status stack_answer(sqlite3 *db, const stack_options *options, bool has_color, bool *is_found, nm_error *err)
{
    run r = {.options = options, .db = db, .has_color = has_color};
    nm_status status = ask_chosen(&r, err);

    *is_found = r.printed_count > 0;
    if (status == NM_OK)
        print_end(&r);
    return status;
}
