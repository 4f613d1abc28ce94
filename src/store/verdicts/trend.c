/* SPDX-License-Identifier: Apache-2.0
 *
 * All of a process is read once, in the order of its devices, heaps and steps: values of a step are added up by device
 * while heaps pass, and a line is fitted when a heap or a device ends. Steps are joined in bins where there are too
 * many.
 */
#include "store/verdicts/trend.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/database.h"
#include "trace/event.h"

#define WARM_UP_PART    4 /* one step of so many */
#define T_LARGE         3.0
#define T_OF_FREEDOM    12.0
#define CORRELATION_MAX 0.9999
#define LATE_RATIO_MIN  0.5
#define STEPS_AHEAD_MAX 1e9
#define INTEGER_MAX     9e18
#define MAPPED_RATIO    0.9   /* of the growth of physical memory, the device's */
#define NO_SCATTER      1e-12 /* part of the variance of the values */

/* ---- A line ------------------------------------------------------------------------------------------------------ */

static double mean_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Least squares over 0, 1, 2, ... */
static double slope_of(const double *values, size_t count, double mean)
{
    double middle = (double)(count - 1) / 2;
    double above = 0;
    double below = 0;

    for (size_t i = 0; i < count; i++) {
        above += ((double)i - middle) * (values[i] - mean);
        below += ((double)i - middle) * ((double)i - middle);
    }
    return below == 0 ? 0 : above / below;
}

/* Fills residual, t and t_needed. */
static void judge_scatter(const double *values, size_t count, double mean, nm_trend_fit *fit)
{
    double middle = (double)(count - 1) / 2;
    double squares = 0, products = 0, spread = 0, variance = 0, before = 0;

    for (size_t i = 0; i < count; i++) {
        double left = values[i] - mean - fit->slope * ((double)i - middle);

        squares += left * left;
        products += i == 0 ? 0 : left * before;
        before = left;
        spread += ((double)i - middle) * ((double)i - middle);
        variance += (values[i] - mean) * (values[i] - mean);
    }
    bool is_exact = squares <= NO_SCATTER * variance;
    double correlation = is_exact || products < 0 ? 0 : products / squares;
    if (correlation > 0) /* what is left over by a fitted line shows too little of it: by this much (Kendall) */
        correlation += (1 + 4 * correlation) / (double)count;
    correlation = correlation > CORRELATION_MAX ? CORRELATION_MAX : correlation;
    double part = (1 - correlation) / (1 + correlation);
    double freedom = (double)count * part - 2;
    fit->residual = sqrt(squares / (double)(count - 2));
    fit->t_needed = T_LARGE + T_OF_FREEDOM / (freedom < 1 ? 1 : freedom);
    fit->t = is_exact ? (fit->slope == 0 ? 0 : NM_TREND_T_MAX) : fit->slope * sqrt(spread * part) / fit->residual;
    fit->t = fit->t > NM_TREND_T_MAX ? NM_TREND_T_MAX : fit->t;
}

nm_trend_fit nm_trend_fit_values(const double *values, size_t count)
{
    nm_trend_fit fit = {.first = (count + WARM_UP_PART - 1) / WARM_UP_PART};
    const double *fitted = values + fit.first;
    double mean;

    fit.count = count - fit.first;
    mean = mean_of(fitted, fit.count);
    fit.slope = slope_of(fitted, fit.count, mean);
    fit.last_line = mean + fit.slope * (double)(fit.count - 1) / 2;
    judge_scatter(fitted, fit.count, mean, &fit);

    size_t late = fit.count / 2;
    const double *second = fitted + late;
    fit.late_slope = slope_of(second, fit.count - late, mean_of(second, fit.count - late));
    return fit;
}

/* ---- Steps of a process ------------------------------------------------------------------------------------------ */

typedef struct step_mark { /* a step that is known */
    int64_t generation, number, begin_ns;
} step_mark;

typedef struct process_steps {
    int64_t process_id;
    int64_t step_count; /* that have ended */
    unsigned shift;     /* values are of 2^shift steps */
    size_t value_count;
    step_mark first, last; /* behind the warm-up */
} process_steps;

static size_t value_at(const process_steps *steps, int64_t generation)
{
    return generation < 1 ? 0 : (size_t)((generation - 1) >> steps->shift);
}

static process_steps steps_of(int64_t process_id, int64_t step_count)
{
    process_steps steps = {.process_id = process_id, .step_count = step_count};

    if (step_count < 1)
        return (process_steps){.process_id = process_id};
    while ((step_count >> steps.shift) > NM_TREND_BINS_MAX)
        steps.shift++;
    steps.value_count = value_at(&steps, step_count) + 1;
    return steps;
}

/* Keeps the first and the last step behind the warm-up of which something is known: they tell how steps are numbered and
 * how long they take. */
static void note_step(process_steps *steps, const step_mark *mark, int64_t last_generation)
{
    int64_t warm_up = (steps->step_count + WARM_UP_PART - 1) / WARM_UP_PART;

    if (mark->generation <= warm_up || last_generation > steps->step_count)
        return;
    if (steps->first.generation == 0 || mark->generation < steps->first.generation)
        steps->first = *mark;
    if (mark->generation > steps->last.generation)
        steps->last = *mark;
}

/* ---- What was held ----------------------------------------------------------------------------------------------- */

typedef struct series { /* most that was held in each step, without what graphs held */
    double *values;     /* owned; process_steps.value_count of them */
    size_t filled;      /* up to here */
    double carried;     /* what is held where nothing is said */
    double of_graphs;   /* the most that graphs held in the last step */
} series;

typedef struct trend { /* a row of step_trend */
    int64_t heap_id;   /* 0: the device */
    const char *measure;
    bool is_pool;
    bool is_of_all;  /* recorded processes on the hardware */
    bool is_handles; /* physical memory: what of it is mapped is driver memory, too */
    double last;     /* value of the last step */
    bool has_fit;
    nm_trend_fit fit;
} trend;

typedef struct device_trends {
    process_steps *steps;
    int64_t device_id, capacity_bytes; /* 0: not known */
    bool is_lost, is_late;
    bool has_driver;
    bool has_reserved;          /* the heap at hand is a pool of which it is known */
    series allocated, reserved; /* of the heap at hand */
    double *device;             /* owned: sum of driver heaps */
    double *others; /* owned: driver memory of other recorded processes on the same hardware, at the end of each step */
    bool has_others;
    double foreign_bytes; /* of the hardware, what no recorded process had taken when it was asked last */
    struct {
        trend *items;
        size_t count, capacity;
    } rows;
} device_trends;

static void fill(series *out, size_t to, double value)
{
    for (; out->filled < to; out->filled++)
        out->values[out->filled] = value;
}

/* In steps `from` to `to` at most `peak` was held, and afterwards `carried`. Values that are of several steps hold most. */
static void put(series *out, const process_steps *steps, int64_t from, int64_t to, double peak, double carried)
{
    size_t first = value_at(steps, from);
    size_t end = value_at(steps, to) + 1;

    if (end > steps->value_count)
        end = steps->value_count;
    fill(out, first < end ? first : end, out->carried);
    for (size_t i = first; i < end && i < out->filled; i++)
        if (out->values[i] < peak)
            out->values[i] = peak;
    fill(out, end, peak);
    out->carried = carried;
}

static nm_status add_trend(device_trends *device, trend row, const double *values, nm_error *err)
{
    size_t count = device->steps->value_count;
    nm_status status = nm_array_grow(&device->rows.items, &device->rows.capacity, device->rows.count + 1,
                                     sizeof *device->rows.items, err);

    if (status != NM_OK)
        return status;
    row.has_fit = count >= NM_TREND_STEPS_MIN;
    row.last = count == 0 ? 0 : values[count - 1];
    if (row.has_fit)
        row.fit = nm_trend_fit_values(values, count);
    device->rows.items[device->rows.count++] = row;
    return NM_OK;
}

/* What graphs held last counts for all steps, so that a capture is no growth and the last value is what is held. */
static void end_series(series *of, size_t count)
{
    fill(of, count, of->carried);
    for (size_t i = 0; i < count; i++)
        of->values[i] += of->of_graphs;
}

static nm_status end_heap(device_trends *device, int64_t heap_id, int64_t level, nm_error *err)
{
    size_t count = device->steps->value_count;
    bool is_pool = level == NM_LEVEL_POOL || level == NM_LEVEL_WORKSPACE;
    nm_status status;

    end_series(&device->allocated, count);
    end_series(&device->reserved, count);
    status = add_trend(
        device,
        (trend){
            .heap_id = heap_id, .measure = "allocated", .is_pool = is_pool, .is_handles = level == NM_LEVEL_PHYSICAL},
        device->allocated.values, err);
    if (status == NM_OK && device->has_reserved)
        status = add_trend(device, (trend){.heap_id = heap_id, .measure = "reserved", .is_pool = true},
                           device->reserved.values, err);
    for (size_t i = 0; i < count && level == NM_LEVEL_DRIVER; i++)
        device->device[i] += device->allocated.values[i];
    device->has_driver |= level == NM_LEVEL_DRIVER;
    device->allocated = (series){.values = device->allocated.values};
    device->reserved = (series){.values = device->reserved.values};
    device->has_reserved = false;
    return status;
}

/* generation, last_generation, peak_bytes, live_bytes, peak_reserved_bytes, number, begin_ns, graph_bytes,
 * graph_reserved_bytes of a row, from `column` on */
static void take_row(device_trends *device, sqlite3_stmt *row, int column)
{
    step_mark mark = {.generation = sqlite3_column_int64(row, column),
                      .number = sqlite3_column_int64(row, column + 5),
                      .begin_ns = nm_db_is_null(row, column + 6) ? NM_NO_TIME : sqlite3_column_int64(row, column + 6)};
    int64_t from = sqlite3_column_int64(row, column);
    int64_t to = sqlite3_column_int64(row, column + 1);
    double held = (double)sqlite3_column_int64(row, column + 7);
    double held_reserved = (double)sqlite3_column_int64(row, column + 8);
    double peak = (double)sqlite3_column_int64(row, column + 2) - held;
    double live = (double)sqlite3_column_int64(row, column + 3) - held;
    double reserved = (double)sqlite3_column_int64(row, column + 4) - held_reserved;

    device->allocated.of_graphs = held;
    device->reserved.of_graphs = held_reserved;
    device->has_reserved |= !nm_db_is_null(row, column + 4);
    if (from < 1) {
        device->allocated.carried = live;
        device->reserved.carried = reserved;
    } else if (from <= device->steps->step_count) {
        put(&device->allocated, device->steps, from, to, peak, live);
        put(&device->reserved, device->steps, from, to, reserved, reserved);
        note_step(device->steps, &mark, to);
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Does the device's driver memory grow by as much? Then the growth is told there. */
static bool grows_mapped(const device_trends *device, const trend *row)
{
    for (size_t i = 0; i < device->rows.count && row->is_handles; i++)
        if (device->rows.items[i].heap_id == 0 && !device->rows.items[i].is_of_all &&
            device->rows.items[i].fit.slope >= MAPPED_RATIO * row->fit.slope)
            return true;
    return false;
}

/* Why there is no trend; NULL: there is one. */
static const char *no_trend(const device_trends *device, const trend *row)
{
    if (device->is_lost)
        return "events were lost";
    if (!row->has_fit)
        return "fewer than 8 steps";
    if (row->fit.slope <= 0)
        return "it does not grow";
    if (row->fit.t < row->fit.t_needed)
        return "what it grows by is within the scatter of the steps";
    if (row->fit.late_slope < LATE_RATIO_MIN * row->fit.slope)
        return "it has stopped growing";
    /* A window that slides looks so while frees of what was there before take nothing away. */
    if (device->is_late)
        return "what was live before the recording is not known";
    if (grows_mapped(device, row))
        return "it is mapped: the driver memory says it";
    return NULL;
}

/* At what the device is full while all else on it stays: 0 where that is not known. */
static double limit_of(const device_trends *device, const trend *row)
{
    size_t count = device->steps->value_count;
    double held = count == 0 || !device->has_driver ? 0 : device->device[count - 1];
    double others = count == 0 || row->is_of_all ? 0 : device->others[count - 1];
    double capacity = (double)device->capacity_bytes - device->foreign_bytes - others;
    double own = row->last;

    if (row->is_pool) /* the pool's free memory is its own, too: each of its measures may grow to the same limit */
        for (size_t i = 0; i < device->rows.count; i++)
            if (device->rows.items[i].heap_id == row->heap_id && device->rows.items[i].last > own)
                own = device->rows.items[i].last;
    capacity = capacity < 0 ? 0 : capacity;
    if (row->heap_id == 0 || held < own)
        return capacity;
    return capacity < held - own ? 0 : capacity - (held - own);
}

/* A number of a wild trace may be as large as it likes. */
static int64_t to_integer(double value)
{
    return value > INTEGER_MAX ? (int64_t)INTEGER_MAX : value < -INTEGER_MAX ? -(int64_t)INTEGER_MAX : llround(value);
}

static void bind_text(sqlite3_stmt *insert, int at, const char *text)
{
    sqlite3_bind_text(insert, at, text, -1, SQLITE_STATIC);
}

static void bind_fit(sqlite3_stmt *insert, const process_steps *steps, const nm_trend_fit *fit)
{
    double joined = (double)(INT64_C(1) << steps->shift);

    sqlite3_bind_int64(insert, 5, (int64_t)fit->count << steps->shift);
    sqlite3_bind_double(insert, 6, fit->slope / joined);
    sqlite3_bind_int64(insert, 7, to_integer(fit->last_line));
    sqlite3_bind_int64(insert, 8, to_integer(fit->residual));
    sqlite3_bind_double(insert, 9, fit->t);
    sqlite3_bind_double(insert, 10, fit->t_needed);
}

/* When the line reaches the limit; false: too far away to say. */
static bool bind_end(sqlite3_stmt *insert, const process_steps *steps, const nm_trend_fit *fit, double limit)
{
    double slope = fit->slope / (double)(INT64_C(1) << steps->shift);
    double ahead = ceil((limit - fit->last_line) / slope);
    double known = (double)(steps->last.generation - steps->first.generation);
    double behind = (double)(steps->step_count - steps->last.generation);

    if (!(ahead <= STEPS_AHEAD_MAX))
        return false;
    ahead = ahead < 0 ? 0 : ahead;
    sqlite3_bind_int64(insert, 14, (int64_t)ahead);
    if (known <= 0)
        return true;
    double numbers = ((double)steps->last.number - (double)steps->first.number) / known;
    sqlite3_bind_int64(insert, 15, to_integer((double)steps->last.number + (ahead + behind) * numbers));
    if (steps->first.begin_ns != NM_NO_TIME && steps->last.begin_ns != NM_NO_TIME) {
        double step_ns = ((double)steps->last.begin_ns - (double)steps->first.begin_ns) / known;
        double full_ns = (double)steps->last.begin_ns + (ahead + behind) * step_ns;

        if (full_ns < INTEGER_MAX)
            sqlite3_bind_int64(insert, 16, to_integer(full_ns));
    }
    return true;
}

static nm_status write_trend(sqlite3 *db, sqlite3_stmt *insert, const device_trends *device, const trend *row,
                             nm_error *err)
{
    const char *reason = no_trend(device, row);
    double limit = limit_of(device, row);
    bool is_growing = reason == NULL;

    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    sqlite3_bind_int64(insert, 1, device->device_id);
    if (row->heap_id != 0)
        sqlite3_bind_int64(insert, 2, row->heap_id);
    bind_text(insert, 3, row->measure);
    sqlite3_bind_int64(insert, 4, device->steps->step_count);
    if (row->has_fit)
        bind_fit(insert, device->steps, &row->fit);
    if (is_growing && device->capacity_bytes == 0)
        reason = "how large the device is is not known";
    else if (is_growing && !bind_end(insert, device->steps, &row->fit, limit))
        reason = "the device is full in more than a thousand million steps";
    if (device->capacity_bytes != 0)
        sqlite3_bind_int64(insert, 13, to_integer(limit));
    bind_text(insert, 11, is_growing ? "growing" : "none");
    bind_text(insert, 12, reason);
    return sqlite3_step(insert) == SQLITE_DONE ? NM_OK : nm_db_fail(db, err);
}

typedef struct statements {
    sqlite3 *db;
    sqlite3_stmt *processes, *rows, *insert;
    sqlite3_stmt *others, *steps, *foreign;
    int row_code; /* of `rows` */
} statements;

/* ---- Who else is on the device ------------------------------------------------------------------------------------ */

/* Hardware that several processes of an input use, and how driver memory on it came and went, in order: made once, for a
 * device would else look through all of table usage. Of a process that ended all of it goes, at the next step of anybody. */
static const char shared_sql[] =
    "CREATE TEMP TABLE shared_device (device_id INTEGER PRIMARY KEY, process_id, hardware);"
    "CREATE TEMP TABLE hardware_change (hardware, process_id, seq, change);"
    "INSERT INTO shared_device SELECT d.device_id, d.process_id, g.hardware FROM device AS d"
    " JOIN process AS p ON p.process_id = d.process_id JOIN (SELECT w.input_id, w.host, v.physical_ordinal AS number,"
    " min(v.device_id) AS hardware FROM device AS v JOIN process AS w ON w.process_id = v.process_id"
    " WHERE v.physical_ordinal IS NOT NULL GROUP BY w.input_id, w.host, v.physical_ordinal"
    " HAVING count(DISTINCT w.process_id) > 1) AS g"
    " ON g.input_id = p.input_id AND g.host IS p.host AND g.number = d.physical_ordinal;"
    "INSERT INTO hardware_change SELECT s.hardware, s.process_id, coalesce(u.last_seq, -1),"
    " u.live_bytes - lag(u.live_bytes, 1, 0) OVER (PARTITION BY u.heap_id ORDER BY u.last_seq)"
    " FROM usage AS u JOIN heap AS h ON h.heap_id = u.heap_id AND h.level = 1"
    " JOIN shared_device AS s ON s.device_id = h.device_id;"
    "INSERT INTO hardware_change SELECT e.hardware, e.process_id, e.seq, -e.held FROM (SELECT c.hardware, c.process_id,"
    " (SELECT min(t.begin_seq) FROM step AS t JOIN process AS q ON q.process_id = t.process_id"
    " WHERE q.input_id = p.input_id AND t.begin_ns >= p.end_ns) AS seq, sum(c.change) AS held FROM hardware_change AS c"
    " JOIN process AS p ON p.process_id = c.process_id WHERE p.end_ns IS NOT NULL GROUP BY c.hardware, c.process_id)"
    " AS e WHERE e.seq IS NOT NULL;"
    "CREATE INDEX temp.hardware_change_order ON hardware_change (hardware, seq)";

static const char unshared_sql[] = "DROP TABLE temp.hardware_change; DROP TABLE temp.shared_device";

static const char others_sql[] = "SELECT c.seq, c.change FROM shared_device AS s JOIN hardware_change AS c"
                                 " ON c.hardware = s.hardware AND c.process_id <> s.process_id"
                                 " WHERE s.device_id = ?1 ORDER BY c.seq";

static const char steps_sql[] =
    "SELECT generation, end_seq, number, begin_ns FROM step WHERE process_id = ?1 AND end_seq IS NOT NULL"
    " ORDER BY generation";

static const char foreign_sql[] =
    "SELECT max(0, total_bytes - free_bytes - sample_recorded_bytes), total_bytes FROM _device_sample"
    " WHERE device_id = ?1 AND sample_recorded_bytes IS NOT NULL"
    " ORDER BY sample_seq DESC LIMIT 1";

static void clear(sqlite3_stmt *statement, int64_t value)
{
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, value);
}

/* A step in which no heap of the process did anything counts as well. */
static int64_t take_step(const statements *sql, process_steps *steps)
{
    step_mark mark = {.generation = sqlite3_column_int64(sql->steps, 0),
                      .number = sqlite3_column_int64(sql->steps, 2),
                      .begin_ns = nm_db_is_null(sql->steps, 3) ? NM_NO_TIME : sqlite3_column_int64(sql->steps, 3)};

    note_step(steps, &mark, mark.generation);
    return mark.generation;
}

/* Fills `others`: what they held at the end of each step. */
static nm_status read_others(const statements *sql, device_trends *device, nm_error *err)
{
    size_t count = device->steps->value_count, filled = 0;
    double held = 0;
    int change, code = SQLITE_DONE;

    clear(sql->others, device->device_id);
    clear(sql->steps, device->steps->process_id);
    change = sqlite3_step(sql->others);
    device->has_others = change == SQLITE_ROW;
    while (device->has_others && (code = sqlite3_step(sql->steps)) == SQLITE_ROW) {
        size_t end = value_at(device->steps, take_step(sql, device->steps)) + 1;

        for (; change == SQLITE_ROW && sqlite3_column_int64(sql->others, 0) <= sqlite3_column_int64(sql->steps, 1);
             change = sqlite3_step(sql->others))
            held += (double)sqlite3_column_int64(sql->others, 1);
        for (; filled < end && filled < count; filled++)
            device->others[filled] = held;
    }
    for (; filled < count; filled++)
        device->others[filled] = held;
    return (change == SQLITE_ROW || change == SQLITE_DONE) && code == SQLITE_DONE ? NM_OK : nm_db_fail(sql->db, err);
}

/* What the hardware said that is in use beyond what was recorded of it; and its size, where nothing else tells it. */
static nm_status read_foreign(const statements *sql, device_trends *device, nm_error *err)
{
    int code;

    clear(sql->foreign, device->device_id);
    code = sqlite3_step(sql->foreign);
    device->foreign_bytes = code == SQLITE_ROW ? sqlite3_column_double(sql->foreign, 0) : 0;
    if (code == SQLITE_ROW && device->capacity_bytes == 0)
        device->capacity_bytes = sqlite3_column_int64(sql->foreign, 1);
    return code == SQLITE_ROW || code == SQLITE_DONE ? NM_OK : nm_db_fail(sql->db, err);
}

/* The rows of the device: its own, and where others have memory of it, all of theirs together. */
static nm_status add_device_trends(device_trends *device, nm_error *err)
{
    nm_status status = add_trend(device, (trend){.measure = "device"}, device->device, err);

    if (status != NM_OK || !device->has_others)
        return status;
    for (size_t i = 0; i < device->steps->value_count; i++)
        device->device[i] += device->others[i];
    status = add_trend(device, (trend){.measure = "all processes", .is_of_all = true}, device->device, err);
    for (size_t i = 0; i < device->steps->value_count; i++)
        device->device[i] -= device->others[i];
    return status;
}

static nm_status end_device(const statements *sql, device_trends *device, nm_error *err)
{
    nm_status status = read_others(sql, device, err);

    if (status == NM_OK)
        status = read_foreign(sql, device, err);
    if (status == NM_OK && device->has_driver)
        status = add_device_trends(device, err);
    for (size_t i = 0; i < device->rows.count && status == NM_OK; i++)
        status = write_trend(sql->db, sql->insert, device, &device->rows.items[i], err);
    device->rows.count = 0;
    device->has_driver = false;
    memset(device->device, 0, device->steps->value_count * sizeof *device->device);
    memset(device->others, 0, device->steps->value_count * sizeof *device->others);
    return status;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* In the same order of processes. */
static const char processes_sql[] =
    "SELECT heap.process_id, coalesce(max(CASE WHEN t.end_seq IS NOT NULL THEN t.last_generation END), 0),"
    " max(input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0)) > 0,"
    " max(input.baseline = 'unknown') FROM _step_sum AS t JOIN heap ON heap.heap_id = t.heap_id"
    " JOIN process ON process.process_id = heap.process_id JOIN input ON input.input_id = process.input_id"
    " GROUP BY heap.process_id ORDER BY heap.process_id";

static const char rows_sql[] =
    "SELECT heap.process_id, heap.device_id, coalesce(device.capacity_bytes, 0), t.heap_id, heap.level, t.generation,"
    " t.last_generation, t.peak_bytes, t.live_bytes, t.peak_reserved_bytes, t.number, t.begin_ns,"
    " t.graph_bytes, t.graph_reserved_bytes"
    " FROM _step_sum AS t JOIN heap ON heap.heap_id = t.heap_id JOIN device ON device.device_id = heap.device_id"
    " JOIN process ON process.process_id = heap.process_id ORDER BY heap.process_id, heap.device_id, t.heap_id,"
    " t.generation";

static const char insert_sql[] =
    "INSERT INTO _step_trend (device_id, heap_id, measure, step_count, fitted_count, growth_bytes, line_bytes,"
    " scatter_bytes, t_value, t_needed, verdict, reason, limit_bytes, steps_left, full_step, full_ns)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

static nm_status read_rows(statements *sql, device_trends *device, nm_error *err)
{
    sqlite3_stmt *row = sql->rows;
    int64_t heap_id = 0;
    int64_t level = 0;
    nm_status status = NM_OK;

    while (status == NM_OK && sql->row_code == SQLITE_ROW &&
           sqlite3_column_int64(row, 0) == device->steps->process_id) {
        if (heap_id != 0 && sqlite3_column_int64(row, 3) != heap_id)
            status = end_heap(device, heap_id, level, err);
        if (status == NM_OK && heap_id != 0 && sqlite3_column_int64(row, 1) != device->device_id)
            status = end_device(sql, device, err);
        device->device_id = sqlite3_column_int64(row, 1);
        device->capacity_bytes = sqlite3_column_int64(row, 2);
        heap_id = sqlite3_column_int64(row, 3);
        level = sqlite3_column_int64(row, 4);
        take_row(device, row, 5);
        sql->row_code = sqlite3_step(row);
    }
    if (status == NM_OK && heap_id != 0)
        status = end_heap(device, heap_id, level, err);
    return status == NM_OK && heap_id != 0 ? end_device(sql, device, err) : status;
}

static nm_status write_process(statements *sql, nm_error *err)
{
    process_steps steps = steps_of(sqlite3_column_int64(sql->processes, 0), sqlite3_column_int64(sql->processes, 1));
    size_t count = steps.value_count + 1;
    device_trends device = {
        .steps = &steps,
        .is_lost = sqlite3_column_int(sql->processes, 2) != 0,
        .is_late = sqlite3_column_int(sql->processes, 3) != 0,
        .allocated = {.values = calloc(count, sizeof(double))},
        .reserved = {.values = calloc(count, sizeof(double))},
        .device = calloc(count, sizeof(double)),
        .others = calloc(count, sizeof(double)),
    };
    nm_status status = NM_OK;

    if (device.allocated.values == NULL || device.reserved.values == NULL || device.device == NULL ||
        device.others == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = read_rows(sql, &device, err);
    free(device.allocated.values);
    free(device.reserved.values);
    free(device.device);
    free(device.others);
    free(device.rows.items);
    return status;
}

static nm_status write_processes(statements *sql, nm_error *err)
{
    nm_status status = NM_OK;
    int code = SQLITE_DONE;

    sql->row_code = sqlite3_step(sql->rows);
    while (status == NM_OK && (code = sqlite3_step(sql->processes)) == SQLITE_ROW)
        status = write_process(sql, err);
    if (status == NM_OK && (code != SQLITE_DONE || (sql->row_code != SQLITE_DONE && sql->row_code != SQLITE_ROW)))
        status = nm_db_fail(sql->db, err);
    return status;
}

nm_status nm_trend_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    statements sql = {.db = db};
    struct {
        const char *text;
        sqlite3_stmt **statement;
    } all[] = {{processes_sql, &sql.processes}, {rows_sql, &sql.rows},   {insert_sql, &sql.insert},
               {others_sql, &sql.others},       {steps_sql, &sql.steps}, {foreign_sql, &sql.foreign}};
    nm_status status = nm_db_exec(db, shared_sql, err);

    (void)settings;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && status == NM_OK; i++)
        status = nm_db_prepare(db, all[i].text, all[i].statement, err);
    if (status == NM_OK)
        status = write_processes(&sql, err);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sqlite3_finalize(*all[i].statement);
    return status == NM_OK ? nm_db_exec(db, unshared_sql, err) : status;
}
