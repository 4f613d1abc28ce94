/* SPDX-License-Identifier: Apache-2.0
 *
 * Births and levels of all sites are read side by side in one order, so that one site is in memory at a time. What is
 * judged knows no database: tests give it histories.
 */
#include "store/verdicts/verdict.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/verdicts/judged_parts.sql.h"
#include "store/verdicts/judged_steps.sql.h"
#include "store/verdicts/site_births.sql.h"
#include "store/verdicts/site_levels.sql.h"
#include "store/verdicts/site_verdict_add.sql.h"
#include "trace/event.h"

#define MANY_STEPS_MIN                                                                                                 \
    8 /* from here on parts are looked at, below each step; replaced.sql has these two by judged_parts.sql */
#define LATE_PART       0.4  /* of the steps */
#define PARTS           3    /* of these */
#define RATE_RATIO_MIN  0.35 /* of growth then, to growth before */
#define ALIKE_MIN       0.5  /* of few steps: growth of each to the middle one, */
#define ALIKE_MAX       2.0
#define PERIODS_MIN     5    /* of what rises in one of so many steps; of a place that steps were found by */
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
 * falls. Of such a leak a part of the steps may hold none. Of training in a history that begins in the middle what came before the first
 * step is one, too. */
static bool is_periodic(const nm_site_history *history, int64_t last)
{
    int64_t step = 0, shortest = INT64_MAX, longest = 0, first = history->is_from_middle && !history->is_served ? 0 : 1;
    double before = first == 0 ? 0 : level_at(history, 0, false), least = 0, most = 0;
    size_t rise_count = 0;

    for (size_t i = 0; i < history->level_count && history->levels[i].generation <= last; i++) {
        const nm_level *level = &history->levels[i];
        double rise = level->bytes - before;

        if (level->generation < first)
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

static double count_grown(const nm_site_history *history, int64_t step)
{
    return level_at(history, step, true) - level_at(history, step - 1, true);
}

/* Of training in a history that begins in the middle nothing is built any more: that what is forgotten is of other sizes each time says
 * nothing, if none of it was ever freed. */
static bool is_of_any_size(const nm_site_history *history)
{
    return history->is_from_middle && !history->is_served && !history->needs_births && history->freed_max_steps < 0 &&
           history->step_count >= PERIODS_MIN;
}

/* Where an optimizer's run ends a step, what comes behind the last run is in the last step, and the first has none of what came before. */
static bool is_shifted(const nm_site_history *history)
{
    int64_t last = history->step_count;

    return is_of_any_size(history) && level_at(history, 1, true) == 0 &&
           count_grown(history, last) == 2 * count_grown(history, 2);
}

static bool has_as_many_blocks(const nm_site_history *history, int64_t step)
{
    if (history->needs_births)
        return has_births(history, step, step);
    return step < 3 || count_grown(history, step) == count_grown(history, 2);
}

/* Of few steps the first may bring more, for what is built once comes with it; the last may be cut. An iteration that forgets, forgets as
 * many blocks each time; requests that a server has at once take more and less. */
static nm_verdict_reason judge_few(const nm_site_history *history, double *growth_bytes)
{
    double grown[MANY_STEPS_MIN], sorted[MANY_STEPS_MIN];
    bool is_alike = true, is_any_size = is_of_any_size(history), has_shift = is_shifted(history);
    int64_t first = has_shift ? 2 : 1, last = has_shift ? history->step_count - 1 : history->step_count;

    for (int64_t step = 1; step <= last; step++)
        grown[step - 1] = level_at(history, step, false) - level_at(history, step - 1, false);
    if (!has_shift && last > NM_VERDICT_STEPS_MIN && grown[last - 1] <= 0 && history->freed_max_steps < 1 &&
        !history->is_served)
        last--;
    for (int64_t step = 2; step <= last; step++)
        sorted[step - 2] = grown[step - 1];
    qsort(sorted, (size_t)last - 1, sizeof sorted[0], by_size);
    double middle = sorted[(last - 1) / 2];
    for (int64_t step = first; step <= last; step++)
        is_alike &= grown[step - 1] > 0 && (is_any_size || grown[step - 1] >= ALIKE_MIN * middle) &&
                    (is_any_size || step == 1 || grown[step - 1] <= ALIKE_MAX * middle) &&
                    has_as_many_blocks(history, step);
    if (is_alike && history->is_served && history->is_anchor && history->step_count < PERIODS_MIN)
        return NM_REASON_NOT_STEADY;
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
    sqlite3_stmt *births, *levels, *insert;
    nm_site_births_row birth; /* these two are of the same site, or of the next ones, */
    nm_site_levels_row level;
    bool has_birth, has_level; /* if there are any */
    struct {
        nm_births *items;
        size_t count, capacity;
    } birth_list;
    struct {
        nm_level *items;
        size_t count, capacity;
    } level_list;
} reading;

static const char no_steps_sql[] = "DROP TABLE temp.judged_steps";

static bool is_before(const nm_site_levels_row *row, int64_t heap_id, int64_t site_id)
{
    return row->heap_id < heap_id || (row->heap_id == heap_id && row->site_id < site_id);
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
static int64_t step_of(int64_t number)
{
    return number > INT32_MAX ? INT32_MAX : number < INT32_MIN ? INT32_MIN : number;
}

static nm_status read_levels(reading *from, int64_t heap_id, int64_t site_id, int64_t unseen_count, nm_error *err)
{
    const nm_site_levels_row *row = &from->level;
    nm_status status = NM_OK;

    from->level_list.count = 0;
    while (from->has_level && is_before(row, heap_id, site_id))
        from->has_level = nm_site_levels_next(from->levels, &from->level);
    while (status == NM_OK && from->has_level && row->heap_id == heap_id && row->site_id == site_id) {
        status = add_level(from,
                           (nm_level){.generation = step_of(row->generation) - unseen_count,
                                      .bytes = (double)row->live_bytes,
                                      .count = (double)row->live_count},
                           err);
        from->has_level = nm_site_levels_next(from->levels, &from->level);
    }
    return status;
}

static nm_status read_births(reading *from, int64_t heap_id, int64_t site_id, int64_t unseen_count, nm_error *err)
{
    const nm_site_births_row *row = &from->birth;
    nm_status status = NM_OK;

    from->birth_list.count = 0;
    while (status == NM_OK && from->has_birth && row->heap_id == heap_id && row->site_id == site_id) {
        status = nm_array_grow(&from->birth_list.items, &from->birth_list.capacity, from->birth_list.count + 1,
                               sizeof *from->birth_list.items, err);
        if (status == NM_OK)
            from->birth_list.items[from->birth_list.count++] =
                (nm_births){.generation = step_of(row->generation) - unseen_count,
                            .bytes = (double)row->born_bytes,
                            .count = (double)row->born_count};
        from->has_birth = nm_site_births_next(from->births, &from->birth);
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

/* All rows of one site; the next row is then the first of another. */
static nm_status read_site(reading *from, nm_error *err)
{
    const nm_site_births_row of = from->birth;
    nm_site_history history = {.step_count = step_of(of.step_count),
                               .freed_max_steps = step_of(of.longest_step_count),
                               .is_served = of.is_served,
                               .is_from_middle = of.is_from_middle,
                               .is_anchor = of.is_anchor,
                               .needs_births = of.is_by_births};
    int64_t unseen_count = step_of(of.unseen_count);
    double growth = 0;
    nm_status status = read_levels(from, of.heap_id, of.site_id, unseen_count, err);

    if (status == NM_OK)
        status = read_births(from, of.heap_id, of.site_id, unseen_count, err);
    if (status == NM_OK && of.is_lost)
        status = take_births_for_levels(from, err);
    if (status == NM_OK && history.step_count > 0)
        status = raise_levels(from, err);
    if (status != NM_OK)
        return status;
    history.step_count = history.step_count > unseen_count ? history.step_count - unseen_count : 0;
    history.births = from->birth_list.items;
    history.birth_count = from->birth_list.count;
    history.levels = from->level_list.items;
    history.level_count = from->level_list.count;
    nm_verdict_reason reason = of.is_cut ? NM_REASON_CUT : nm_verdict_judge(&history, &growth);
    if (reason == NM_REASON_HELD)
        return NM_OK;
    nm_site_verdict_add_bind(from->insert, of.heap_id, of.site_id == 0 ? NM_NULL : of.site_id, texts[reason].verdict,
                             texts[reason].reason, growth > 0 ? growth : NAN);
    return nm_question_step(from->insert, err);
}

nm_status nm_verdict_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    reading from = {0};
    nm_status status = nm_judged_steps_run(db, err);

    (void)settings;
    if (status == NM_OK)
        status = nm_judged_parts_run(db, MANY_STEPS_MIN, LATE_PART, err);
    if (status == NM_OK)
        status = nm_site_births_ask(db, &from.births, err);
    if (status == NM_OK)
        status = nm_site_levels_ask(db, &from.levels, err);
    if (status == NM_OK)
        status = nm_db_prepare(db, nm_site_verdict_add_sql, &from.insert, err);
    if (status == NM_OK) {
        from.has_level = nm_site_levels_next(from.levels, &from.level);
        from.has_birth = nm_site_births_next(from.births, &from.birth);
    }
    while (status == NM_OK && from.has_birth)
        status = read_site(&from, err);
    status = nm_question_end(from.births, status, err);
    status = nm_question_end(from.levels, status, err);
    status = nm_question_end(from.insert, status, err);
    free(from.birth_list.items);
    free(from.level_list.items);
    return status == NM_OK ? nm_db_exec(db, no_steps_sql, err) : status;
}
