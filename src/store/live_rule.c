/* SPDX-License-Identifier: Apache-2.0
 *
 * The moments that keep a row are put in order by what they are of (a heap, a process, a device), so that each allocation
 * asks for the next one after its birth: three searches a row, however many marks there are.
 */
#include "store/live_rule.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "rows/rows.h"
#include "store/question.h"

/* The scopes of points. */
enum { OF_HEAP = 1, OF_PROCESS, OF_DEVICE };

/* A moment without a process is of all. What is before the first event has the place -1 here. */
static const char points_sql[] =
    "SELECT 1 AS scope, heap_id AS id, coalesce(seq, -1) AS seq FROM \"%w\".moment WHERE kind IN (1, 6) AND heap_id "
    "IS NOT NULL"
    " UNION SELECT 2, p.process_id, coalesce(m.seq, -1) FROM \"%w\".moment AS m"
    " JOIN \"%w\".process AS p ON m.process_id IS NULL OR p.process_id = m.process_id WHERE m.kind IN (3, 4)"
    " UNION SELECT 3, s.device_id, coalesce(m.seq, -1) FROM \"%w\".moment AS m"
    " JOIN \"%w\".z_device_sample AS s ON s.moment_id = m.moment_id WHERE m.kind = 5 ORDER BY scope, id, seq";

/* All rows of inputs that have no more than that stay. */
static const char heaps_sql[] = "SELECT h.heap_id, h.process_id, h.device_id, coalesce(i.detail IN ('live', 'none'), "
                                "0) AS keeps_all FROM \"%w\".heap AS h"
                                " LEFT JOIN \"%w\".process AS p ON p.process_id = h.process_id"
                                " LEFT JOIN \"%w\".input AS i ON i.input_id = p.input_id ORDER BY h.heap_id";

typedef struct scope_points {
    size_t begin, end; /* among the points */
} scope_points;

struct nm_live_heap {
    int64_t heap_id;
    bool keeps_all;
    scope_points scopes[3]; /* those of the heap, of its process, of its device */
};

/* ---- Reading ------------------------------------------------------------------------------------------------------- */

/* `sql` names the schema five times at most. */
static nm_status each(nm_live_rule *rule, sqlite3 *db, const char *sql, const char *schema,
                      nm_status (*take)(nm_live_rule *, sqlite3_stmt *, nm_error *), nm_error *err)
{
    char *text = sqlite3_mprintf(sql, schema, schema, schema, schema, schema);
    sqlite3_stmt *row = NULL;
    nm_status status =
        text == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_prepare(db, text, &row, err);

    sqlite3_free(text);
    while (status == NM_OK && sqlite3_step(row) == SQLITE_ROW)
        status = take(rule, row, err);
    return nm_question_end(row, status, err);
}

static nm_status take_point(nm_live_rule *rule, sqlite3_stmt *row, nm_error *err)
{
    nm_status status =
        nm_array_grow(&rule->points, &rule->point_capacity, rule->point_count + 1, sizeof *rule->points, err);

    if (status == NM_OK)
        rule->points[rule->point_count++] =
            (nm_live_point){nm_named_integer(row, "scope"), nm_named_integer(row, "id"), nm_named_integer(row, "seq")};
    return status;
}

static bool is_before(const nm_live_point *a, const nm_live_point *b)
{
    return a->scope != b->scope ? a->scope < b->scope : a->id != b->id ? a->id < b->id : a->seq < b->seq;
}

/* The first of the points from `begin` to `end` that is not before `wanted`. */
static size_t find_point(const nm_live_rule *rule, size_t begin, size_t end, const nm_live_point *wanted)
{
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (is_before(&rule->points[middle], wanted))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static scope_points points_of(const nm_live_rule *rule, int64_t scope, sqlite3_stmt *row, const char *name)
{
    int64_t id = nm_named_integer(row, name);
    size_t begin = find_point(rule, 0, rule->point_count, &(nm_live_point){scope, id, INT64_MIN}), end = begin;

    if (!nm_named_has(row, name))
        return (scope_points){0, 0};
    while (end < rule->point_count && rule->points[end].scope == scope && rule->points[end].id == id)
        end++;
    return (scope_points){begin, end};
}

static nm_status take_heap(nm_live_rule *rule, sqlite3_stmt *row, nm_error *err)
{
    static const char *const names[] = {"heap_id", "process_id", "device_id"}; /* of scopes */
    nm_status status =
        nm_array_grow(&rule->heaps, &rule->heap_capacity, rule->heap_count + 1, sizeof *rule->heaps, err);

    if (status != NM_OK)
        return status;
    nm_live_heap *heap = &rule->heaps[rule->heap_count++];
    heap->heap_id = nm_named_integer(row, "heap_id");
    heap->keeps_all = nm_named_integer(row, "keeps_all") != 0;
    for (int scope = OF_HEAP; scope <= OF_DEVICE; scope++)
        heap->scopes[scope - OF_HEAP] = points_of(rule, scope, row, names[scope - OF_HEAP]);
    return NM_OK;
}

nm_status nm_live_rule_read(nm_live_rule *rule, sqlite3 *db, const char *schema, nm_error *err)
{
    nm_status status = each(rule, db, points_sql, schema, take_point, err);

    return status == NM_OK ? each(rule, db, heaps_sql, schema, take_heap, err) : status;
}

void nm_live_rule_free(nm_live_rule *rule)
{
    free(rule->points);
    free(rule->heaps);
    *rule = (nm_live_rule){0};
}

/* ---- Asking -------------------------------------------------------------------------------------------------------- */

static const nm_live_heap *find_heap(const nm_live_rule *rule, int64_t heap_id)
{
    size_t low = 0, high = rule->heap_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rule->heaps[middle].heap_id == heap_id)
            return &rule->heaps[middle];
        if (rule->heaps[middle].heap_id < heap_id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Is a moment within that life? */
static bool is_met(const nm_live_rule *rule, const scope_points *points, int64_t alloc_seq, int64_t free_seq)
{
    if (points->begin == points->end)
        return false;
    nm_live_point birth = rule->points[points->begin];
    birth.seq = alloc_seq;
    size_t next = find_point(rule, points->begin, points->end, &birth);
    return next < points->end && rule->points[next].seq < free_seq;
}

bool nm_live_rule_keeps(const nm_live_rule *rule, int64_t heap_id, int64_t end_kind, int64_t alloc_seq,
                        int64_t free_seq)
{
    const nm_live_heap *heap = find_heap(rule, heap_id);

    if (end_kind == NM_END_NONE || end_kind == NM_END_RESET || (heap != NULL && heap->keeps_all))
        return true;
    if (heap == NULL || free_seq == NM_NULL)
        return false;
    for (size_t i = 0; i < sizeof heap->scopes / sizeof *heap->scopes; i++)
        if (is_met(rule, &heap->scopes[i], alloc_seq, free_seq))
            return true;
    return false;
}
