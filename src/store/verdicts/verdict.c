/* SPDX-License-Identifier: Apache-2.0
 *
 * Births and levels of all sites are read side by side in one order, so that one site is in memory at a time. What is
 * judged knows no database: tests give it histories.
 */
#include "store/verdicts/verdict.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/database.h"
#include "trace/event.h"

#define MANY_STEPS_MIN  8    /* from here on parts are looked at, below each step */
#define LATE_PART       0.4  /* of the steps */
#define PARTS           3    /* of these */
#define RATE_RATIO_MIN  0.35 /* of growth then, to growth before */
#define ALIKE_MIN       0.5  /* of few steps: growth of each to the middle one, */
#define ALIKE_MAX       2.0
#define PERIODS_MIN     5    /* of what rises in one of so many steps */
#define AGED_RATIO      2    /* older than so many of the longest lives of what was freed, */
#define AGED_STEPS_MIN  5    /* in so many or more of these, */
#define AGED_PARTS      5    /* parts of equal length */
#define AGED_COUNT_MIN  15   /* blocks in all, */
#define AGED_EVEN_MIN   0.35 /* and of their mean so many in each part */
#define GENERATIONS_MIN 3    /* in which what is still there was born, for anything to be said of a site */

/* ---- One site ---- */

static double level_at(const nm_site_history *history, int64_t generation, bool of_count)
{
    double value = 0;

    for (size_t i = 0; i < history->level_count && history->levels[i].generation <= generation; i++)
        value = of_count ? history->levels[i].count : history->levels[i].bytes;
    return value;
}

/* The least at the ends of the steps `from` to `to`. */
static double floor_of(const nm_site_history *history, int64_t from, int64_t to, bool of_count)
{
    double least = level_at(history, from, of_count);

    for (size_t i = 0; i < history->level_count && history->levels[i].generation <= to; i++) {
        double value = of_count ? history->levels[i].count : history->levels[i].bytes;

        if (history->levels[i].generation > from && value < least)
            least = value;
    }
    return least;
}

static bool ever_falls(const nm_site_history *history, int64_t from, int64_t to)
{
    double before = level_at(history, from, false);

    for (size_t i = 0; i < history->level_count && history->levels[i].generation <= to; i++) {
        if (history->levels[i].generation <= from)
            continue;
        if (history->levels[i].bytes < before)
            return true;
        before = history->levels[i].bytes;
    }
    return false;
}

static bool has_births(const nm_site_history *history, int64_t from, int64_t to)
{
    for (size_t i = 0; i < history->birth_count; i++)
        if (history->births[i].generation >= from && history->births[i].generation <= to)
            return true;
    return false;
}

static size_t births_from(const nm_site_history *history, int64_t from)
{
    size_t count = 0;

    for (size_t i = 0; i < history->birth_count; i++)
        count += history->births[i].generation >= from;
    return count;
}

/* Has the oldest block of the steps outlived what was freed? What was there before the first step is not looked at. */
static bool has_outlived(const nm_site_history *history)
{
    for (size_t i = 0; i < history->birth_count; i++)
        if (history->births[i].generation >= 1)
            return history->step_count - history->births[i].generation > history->freed_max_steps;
    return false;
}

/* The last step of each part of the last two fifths; that of index 0 is of the part before them. */
typedef struct parts {
    int64_t before, end[PARTS + 1];
} parts;

static parts parts_of(int64_t last)
{
    double width = LATE_PART * (double)last / PARTS;
    parts out;

    width = width < 1 ? 1 : width;
    for (int i = 0; i <= PARTS; i++)
        out.end[i] = last - (int64_t)(width * (PARTS - i) + 0.5);
    out.before = out.end[0] - (out.end[1] - out.end[0]);
    out.before = out.before < 0 ? 0 : out.before;
    return out;
}

static bool floors_rise(const nm_site_history *history, int64_t last, bool of_count, double *rate)
{
    parts part = parts_of(last);
    double first = floor_of(history, part.before + 1, part.end[0], of_count);
    double before = first, floor = first;

    for (int i = 1; i <= PARTS; i++, before = floor) {
        floor = floor_of(history, part.end[i - 1] + 1, part.end[i], of_count);
        if (floor <= before)
            return false;
    }
    *rate = (floor - first) / (double)(part.end[PARTS - 1] - part.before);
    /* As long before: from a fifth of the steps on, so that the warm-up does not count. */
    int64_t early = (int64_t)(0.2 * (double)last + 0.5);
    double then = floor_of(history, early + 1, early + part.end[1] - part.end[0], of_count);
    return early >= part.before || *rate >= RATE_RATIO_MIN * (first - then) / (double)(part.before - early);
}

static bool has_births_in_each_part(const nm_site_history *history, int64_t last)
{
    parts part = parts_of(last);

    for (int i = 1; i <= PARTS; i++)
        if (!has_births(history, part.end[i - 1] + 1, i == PARTS ? history->step_count : part.end[i]))
            return false;
    return true;
}

/* One in so many steps: what is live rises again and again, by about the same and after about as many steps, and never
 * falls. Of such a leak a part of the steps may hold none. */
static bool is_periodic(const nm_site_history *history, int64_t last)
{
    int64_t step = 0, shortest = INT64_MAX, longest = 0;
    double before = level_at(history, 0, false), least = 0, most = 0;
    size_t rise_count = 0;

    for (size_t i = 0; i < history->level_count && history->levels[i].generation <= last; i++) {
        const nm_level *level = &history->levels[i];
        double rise = level->bytes - before;

        if (level->generation < 1)
            continue;
        if (rise < 0)
            return false;
        if (rise_count > 0) {
            shortest = level->generation - step < shortest ? level->generation - step : shortest;
            longest = level->generation - step > longest ? level->generation - step : longest;
        }
        if (rise_count == 1 || (rise_count > 1 && rise < least)) /* the first may bring more, built once */
            least = rise;
        most = rise_count > 0 && rise > most ? rise : most;
        before = level->bytes;
        step = level->generation;
        rise_count++;
    }
    return rise_count >= PERIODS_MIN && longest <= 1.5 * (double)shortest && last - step <= longest &&
           most <= 2 * least;
}

/* What comes and goes in numbers that rise and fall hides a leak among them; but what is left of it grows old. Is so much
 * from all parts of the run still there, although all that was freed was freed much earlier? What a queue, a server or a
 * cache holds is either young or from the beginning. */
static bool has_aged_evenly(const nm_site_history *history, double *growth_bytes)
{
    int64_t life = history->freed_max_steps + 1;
    int64_t end = history->step_count - AGED_RATIO * life;
    double counts[AGED_PARTS] = {0}, count = 0, bytes = 0;

    if (history->needs_births || history->freed_max_steps < 0 || history->step_count < AGED_STEPS_MIN * life ||
        end < 2 * AGED_PARTS)
        return false;
    for (size_t i = 0; i < history->birth_count; i++) {
        const nm_births *born = &history->births[i];

        if (born->generation < 1 || born->generation > end)
            continue;
        counts[(born->generation - 1) * AGED_PARTS / end] += born->count;
        count += born->count;
        bytes += born->bytes;
    }
    for (int i = 0; i < AGED_PARTS; i++)
        if (counts[i] < AGED_EVEN_MIN * count / AGED_PARTS)
            return false;
    if (count < AGED_COUNT_MIN)
        return false;
    *growth_bytes = bytes / (double)end;
    return true;
}

static size_t rise_count(const nm_site_history *history)
{
    double before = level_at(history, 0, false);
    size_t count = 0;

    for (size_t i = 0; i < history->level_count; i++) {
        count += history->levels[i].generation > 0 && history->levels[i].bytes > before;
        before = history->levels[i].bytes;
    }
    return count;
}

static nm_verdict_reason say_no(const nm_site_history *history, bool rises)
{
    if (births_from(history, 1) < GENERATIONS_MIN && rise_count(history) < GENERATIONS_MIN)
        return NM_REASON_HELD;
    if (history->freed_max_steps >= 0 && !has_outlived(history))
        return NM_REASON_NEWEST_KEPT;
    return rises ? NM_REASON_NOT_STEADY : NM_REASON_STOPPED;
}

static nm_verdict_reason judge_many(const nm_site_history *history, double *growth_bytes)
{
    int64_t last = history->step_count - 1; /* the end of the program or a crash cuts the last one */
    int64_t begin = last - (int64_t)(LATE_PART * (double)last + 0.5);
    double rate = 0, count_rate = 0;
    bool is_spread = has_births_in_each_part(history, last);

    if (!floors_rise(history, last, false, &rate)) {
        if (history->needs_births || !is_periodic(history, last))
            return say_no(history, level_at(history, last, false) > level_at(history, begin, false));
        *growth_bytes = (level_at(history, last, false) - level_at(history, begin, false)) / (double)(last - begin);
        return NM_REASON_GROWS;
    }
    *growth_bytes = rate;
    if (!ever_falls(history, begin, last) && (is_spread || !history->needs_births))
        return NM_REASON_GROWS;
    if (is_spread && has_outlived(history) && floors_rise(history, last, true, &count_rate))
        return NM_REASON_GROWS;
    return say_no(history, true);
}

static int by_size(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Of few steps the first may bring more, for what is built once comes with it; the last may be cut. */
static nm_verdict_reason judge_few(const nm_site_history *history, double *growth_bytes)
{
    double grown[MANY_STEPS_MIN], sorted[MANY_STEPS_MIN];
    int64_t last = history->step_count;
    bool is_alike = true;

    for (int64_t step = 1; step <= last; step++)
        grown[step - 1] = level_at(history, step, false) - level_at(history, step - 1, false);
    if (last > NM_VERDICT_STEPS_MIN && grown[last - 1] <= 0 && history->freed_max_steps < 1)
        last--;
    for (int64_t step = 2; step <= last; step++)
        sorted[step - 2] = grown[step - 1];
    qsort(sorted, (size_t)last - 1, sizeof sorted[0], by_size);
    double middle = sorted[(last - 1) / 2];
    for (int64_t step = 1; step <= last; step++)
        is_alike &= grown[step - 1] > 0 && grown[step - 1] >= ALIKE_MIN * middle &&
                    (step == 1 || grown[step - 1] <= ALIKE_MAX * middle) &&
                    (!history->needs_births || has_births(history, step, step));
    if (!is_alike)
        return say_no(history, grown[last - 1] > 0 && middle > 0);
    *growth_bytes = middle;
    return NM_REASON_GROWS;
}

nm_verdict_reason nm_verdict_judge(const nm_site_history *history, double *growth_bytes)
{
    *growth_bytes = 0;
    if (history->step_count == 0)
        return NM_REASON_NO_STEPS;
    if (history->step_count < NM_VERDICT_STEPS_MIN)
        return NM_REASON_FEW_STEPS;
    if (history->step_count < MANY_STEPS_MIN)
        return judge_few(history, growth_bytes);
    nm_verdict_reason reason = judge_many(history, growth_bytes);
    if (reason == NM_REASON_GROWS)
        return reason;
    *growth_bytes = 0;
    return has_aged_evenly(history, growth_bytes) ? NM_REASON_OUTLIVES : reason;
}

/* ---- All of them ---- */

static const struct {
    const char *verdict, *reason;
} texts[] = {
    [NM_REASON_GROWS] = {"growing", "it grows"},
    [NM_REASON_OUTLIVES] = {"growing", "it outlives what is freed"},
    [NM_REASON_NO_STEPS] = {"not judged", "no steps"},
    [NM_REASON_FEW_STEPS] = {"not judged", "too few steps"},
    [NM_REASON_STOPPED] = {"bounded", "it stopped growing"},
    [NM_REASON_NEWEST_KEPT] = {"bounded", "only the newest are kept"},
    [NM_REASON_NOT_STEADY] = {"not judged", "not steady"},
    [NM_REASON_CUT] = {"not judged", "stack cut"},
};

typedef struct reading {
    sqlite3 *db;
    sqlite3_stmt *births, *levels, *insert;
    int level_code;
    struct {
        nm_births *items;
        size_t count, capacity;
    } birth_list;
    struct {
        nm_level *items;
        size_t count, capacity;
    } level_list;
} reading;

/* Steps behind a pause with which the recording began, and up to the first one that never ended: what was born in them has no
 * site. Where the begin of that one was not kept, no step is. A table, since it is looked up row by row of what is outstanding. */
static const char steps_sql[] =
    "CREATE TEMP TABLE judged_steps (process_id INTEGER PRIMARY KEY, steps, unseen);"
    "INSERT INTO judged_steps SELECT x.process_id, x.steps, coalesce((SELECT max(f.generation) FROM step AS f"
    "  JOIN _pause AS g ON g.process_id = f.process_id WHERE f.process_id = x.process_id AND f.begin_seq < g.end_seq"
    "  AND coalesce(g.begin_seq, -1) <= x.first_seq), 0) FROM (SELECT step.process_id,"
    "  max(step.generation) AS steps, min(step.begin_seq) AS first_seq FROM step LEFT JOIN (SELECT process_id,"
    "  min(coalesce(begin_seq, -1)) AS seq FROM _pause WHERE end_seq IS NULL GROUP BY process_id) AS q"
    "  ON q.process_id = step.process_id"
    "  WHERE step.process_id IS NOT NULL AND (q.seq IS NULL OR step.begin_seq <= q.seq) GROUP BY step.process_id) AS x";

static const char no_steps_sql[] = "DROP TABLE temp.judged_steps";

/* Both in one order, so that they are read side by side. A site that is not known is 0. */
static const char births_sql[] =
    "SELECT a.heap_id, coalesce(s.site_frame_id, 0) AS site_key, a.generation, sum(a.allocation_count * a.size_bytes),"
    " sum(a.allocation_count), coalesce(n.steps, 0), coalesce(max(l.max_steps), -1), h.level IN (1, 7),"
    " max(i.events_dropped + i.events_damaged + i.events_unrecovered) > 0, coalesce(n.unseen, 0),"
    " coalesce(f.is_cut, 0)"
    " FROM _outstanding_sum AS a JOIN heap AS h ON h.heap_id = a.heap_id JOIN process AS p ON p.process_id = "
    "h.process_id"
    " JOIN input AS i ON i.input_id = p.input_id LEFT JOIN stack AS s ON s.stack_id = a.stack_id"
    " LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id"
    " LEFT JOIN judged_steps AS n ON n.process_id = h.process_id"
    " LEFT JOIN _site_lifetime AS l ON l.heap_id = a.heap_id AND l.site_frame_id IS s.site_frame_id"
    " WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0 AND NOT EXISTS (SELECT 1 FROM _site_verdict)"
    " GROUP BY a.heap_id, site_key, a.generation ORDER BY a.heap_id, site_key, a.generation";

static const char levels_sql[] = "SELECT heap_id, coalesce(site_frame_id, 0), generation, live_bytes, live_count"
                                 " FROM _site_step ORDER BY heap_id, site_frame_id, generation";

static const char insert_sql[] =
    "INSERT INTO _site_verdict (heap_id, site_frame_id, verdict, reason, growth_bytes) VALUES (?1, ?2, ?3, ?4, ?5)";

static bool is_before(sqlite3_stmt *row, int64_t heap_id, int64_t site)
{
    int64_t row_heap = sqlite3_column_int64(row, 0);

    return row_heap < heap_id || (row_heap == heap_id && sqlite3_column_int64(row, 1) < site);
}

static nm_status add_level(reading *from, nm_level level, nm_error *err)
{
    nm_status status = nm_array_grow(&from->level_list.items, &from->level_list.capacity, from->level_list.count + 1,
                                     sizeof level, err);

    if (status == NM_OK)
        from->level_list.items[from->level_list.count++] = level;
    return status;
}

/* Of steps. A replay gives no number beyond these, but what is judged may be of a database that somebody made. */
static int64_t number_of(sqlite3_stmt *row, int column)
{
    int64_t number = sqlite3_column_int64(row, column);

    return number > INT32_MAX ? INT32_MAX : number < INT32_MIN ? INT32_MIN : number;
}

static nm_status read_levels(reading *from, int64_t heap_id, int64_t site, int64_t unseen, nm_error *err)
{
    sqlite3_stmt *row = from->levels;
    nm_status status = NM_OK;

    from->level_list.count = 0;
    while (from->level_code == SQLITE_ROW && is_before(row, heap_id, site))
        from->level_code = sqlite3_step(row);
    while (status == NM_OK && from->level_code == SQLITE_ROW && sqlite3_column_int64(row, 0) == heap_id &&
           sqlite3_column_int64(row, 1) == site) {
        status = add_level(from,
                           (nm_level){.generation = number_of(row, 2) - unseen,
                                      .bytes = sqlite3_column_double(row, 3),
                                      .count = sqlite3_column_double(row, 4)},
                           err);
        from->level_code = sqlite3_step(row);
    }
    return status;
}

/* What is outstanding was live at the ends of all steps since its birth, whatever the levels say: of a recording that was kept in
 * parts they begin late, and what the last reset ended they have lost. */
static nm_status raise_levels(reading *from, nm_error *err)
{
    nm_level level = {0}, born = {0};
    size_t known = from->level_list.count, at = 0, birth = 0;
    nm_status status = NM_OK;

    while (status == NM_OK && (at < known || birth < from->birth_list.count)) {
        const nm_level *next = at < known ? &from->level_list.items[at] : NULL;
        const nm_births *of = birth < from->birth_list.count ? &from->birth_list.items[birth] : NULL;
        int64_t generation =
            next == NULL || (of != NULL && of->generation < next->generation) ? of->generation : next->generation;

        if (next != NULL && next->generation == generation) {
            level = *next;
            at++;
        }
        if (of != NULL && of->generation == generation) {
            born.bytes += of->bytes;
            born.count += of->count;
            birth++;
        }
        status = add_level(from,
                           (nm_level){.generation = generation,
                                      .bytes = level.bytes > born.bytes ? level.bytes : born.bytes,
                                      .count = level.count > born.count ? level.count : born.count},
                           err);
    }
    if (status != NM_OK)
        return status;
    from->level_list.count -= known;
    memmove(from->level_list.items, from->level_list.items + known, from->level_list.count * sizeof level);
    return NM_OK;
}

/* Where events were lost, what seems live may be gone: what is left of the births that are beyond doubt is looked at. */
static nm_status take_births_for_levels(reading *from, nm_error *err)
{
    nm_level level = {0};
    nm_status status = NM_OK;

    from->level_list.count = 0;
    for (size_t i = 0; i < from->birth_list.count && status == NM_OK; i++) {
        level.generation = from->birth_list.items[i].generation;
        level.bytes += from->birth_list.items[i].bytes;
        level.count += from->birth_list.items[i].count;
        status = add_level(from, level, err);
    }
    return status;
}

static nm_status write_verdict(reading *from, int64_t heap_id, int64_t site, nm_verdict_reason reason, double growth,
                               nm_error *err)
{
    sqlite3_reset(from->insert);
    sqlite3_clear_bindings(from->insert);
    sqlite3_bind_int64(from->insert, 1, heap_id);
    if (site != 0)
        sqlite3_bind_int64(from->insert, 2, site);
    sqlite3_bind_text(from->insert, 3, texts[reason].verdict, -1, SQLITE_STATIC);
    sqlite3_bind_text(from->insert, 4, texts[reason].reason, -1, SQLITE_STATIC);
    if (growth > 0)
        sqlite3_bind_double(from->insert, 5, growth);
    return sqlite3_step(from->insert) == SQLITE_DONE ? NM_OK : nm_db_fail(from->db, err);
}

/* All rows of one site; the statement stands on the first of the next one then. */
static nm_status read_site(reading *from, int *code, nm_error *err)
{
    sqlite3_stmt *row = from->births;
    int64_t heap_id = sqlite3_column_int64(row, 0);
    int64_t site = sqlite3_column_int64(row, 1);
    nm_site_history history = {.step_count = number_of(row, 5),
                               .freed_max_steps = number_of(row, 6),
                               .needs_births = sqlite3_column_int(row, 7) != 0};
    bool is_lost = sqlite3_column_int(row, 8) != 0;
    int64_t unseen = number_of(row, 9);
    bool is_cut = sqlite3_column_int(row, 10) != 0;
    double growth = 0;
    nm_status status = read_levels(from, heap_id, site, unseen, err);

    from->birth_list.count = 0;
    while (status == NM_OK && *code == SQLITE_ROW && sqlite3_column_int64(row, 0) == heap_id &&
           sqlite3_column_int64(row, 1) == site) {
        status = nm_array_grow(&from->birth_list.items, &from->birth_list.capacity, from->birth_list.count + 1,
                               sizeof *from->birth_list.items, err);
        if (status == NM_OK)
            from->birth_list.items[from->birth_list.count++] = (nm_births){.generation = number_of(row, 2) - unseen,
                                                                           .bytes = sqlite3_column_double(row, 3),
                                                                           .count = sqlite3_column_double(row, 4)};
        *code = sqlite3_step(row);
    }
    if (status == NM_OK && is_lost)
        status = take_births_for_levels(from, err);
    if (status == NM_OK && history.step_count > 0)
        status = raise_levels(from, err);
    if (status != NM_OK)
        return status;
    history.step_count = history.step_count > unseen ? history.step_count - unseen : 0;
    history.births = from->birth_list.items;
    history.birth_count = from->birth_list.count;
    history.levels = from->level_list.items;
    history.level_count = from->level_list.count;
    nm_verdict_reason reason = is_cut ? NM_REASON_CUT : nm_verdict_judge(&history, &growth);
    return reason == NM_REASON_HELD ? NM_OK : write_verdict(from, heap_id, site, reason, growth, err);
}

nm_status nm_verdict_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    reading from = {.db = db, .level_code = SQLITE_DONE};
    int code = SQLITE_DONE;
    nm_status status = nm_db_exec(db, steps_sql, err);

    (void)settings;
    if (status == NM_OK)
        status = nm_db_prepare(db, births_sql, &from.births, err);
    if (status == NM_OK)
        status = nm_db_prepare(db, levels_sql, &from.levels, err);
    if (status == NM_OK)
        status = nm_db_prepare(db, insert_sql, &from.insert, err);
    if (status == NM_OK) {
        from.level_code = sqlite3_step(from.levels);
        code = sqlite3_step(from.births);
    }
    while (status == NM_OK && code == SQLITE_ROW)
        status = read_site(&from, &code, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(from.births);
    sqlite3_finalize(from.levels);
    sqlite3_finalize(from.insert);
    free(from.birth_list.items);
    free(from.level_list.items);
    return status == NM_OK ? nm_db_exec(db, no_steps_sql, err) : status;
}
