/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trend.h"

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

    while ((step_count >> steps.shift) > NM_TREND_BINS_MAX)
        steps.shift++;
    steps.value_count = (size_t)((step_count + (INT64_C(1) << steps.shift) - 1) >> steps.shift);
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

typedef struct series { /* most that was held in each step */
    double *values;     /* owned; process_steps.value_count of them */
    size_t filled;      /* up to here */
    double carried;     /* what is held where nothing is said */
} series;

typedef struct trend { /* a row of step_trend */
    int64_t heap_id;   /* 0: the device */
    const char *measure;
    bool is_pool;
    double last; /* value of the last step */
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

static nm_status end_heap(device_trends *device, int64_t heap_id, int64_t level, nm_error *err)
{
    size_t count = device->steps->value_count;
    bool is_pool = level == NM_LEVEL_POOL || level == NM_LEVEL_WORKSPACE;
    nm_status status;

    fill(&device->allocated, count, device->allocated.carried);
    fill(&device->reserved, count, device->reserved.carried);
    status = add_trend(device, (trend){.heap_id = heap_id, .measure = "allocated", .is_pool = is_pool},
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

/* generation, last_generation, peak_bytes, live_bytes, peak_reserved_bytes, number, begin_ns of a row, from `column` on */
static void take_row(device_trends *device, sqlite3_stmt *row, int column)
{
    step_mark mark = {.generation = sqlite3_column_int64(row, column),
                      .number = sqlite3_column_int64(row, column + 5),
                      .begin_ns = sqlite3_column_type(row, column + 6) == SQLITE_NULL
                                      ? NM_NO_TIME
                                      : sqlite3_column_int64(row, column + 6)};
    int64_t from = sqlite3_column_int64(row, column);
    int64_t to = sqlite3_column_int64(row, column + 1);
    double peak = (double)sqlite3_column_int64(row, column + 2);
    double live = (double)sqlite3_column_int64(row, column + 3);
    double reserved = (double)sqlite3_column_int64(row, column + 4);

    device->has_reserved |= sqlite3_column_type(row, column + 4) != SQLITE_NULL;
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
    return NULL;
}

/* At what the device is full while all else on it stays: 0 where that is not known. */
static double limit_of(const device_trends *device, const trend *row)
{
    size_t count = device->steps->value_count;
    double held = count == 0 || !device->has_driver ? 0 : device->device[count - 1];
    double own = row->last;

    if (row->is_pool) /* the pool's free memory is its own, too: each of its measures may grow to the same limit */
        for (size_t i = 0; i < device->rows.count; i++)
            if (device->rows.items[i].heap_id == row->heap_id && device->rows.items[i].last > own)
                own = device->rows.items[i].last;
    if (row->heap_id == 0 || held < own)
        return (double)device->capacity_bytes;
    return (double)device->capacity_bytes - (held - own);
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
    else if (is_growing && device->is_late)
        reason = "what was live before the recording is not known";
    else if (is_growing && !bind_end(insert, device->steps, &row->fit, limit))
        reason = "the device is full in more than a thousand million steps";
    if (device->capacity_bytes != 0)
        sqlite3_bind_int64(insert, 13, to_integer(limit));
    bind_text(insert, 11, is_growing ? "growing" : "none");
    bind_text(insert, 12, reason);
    return sqlite3_step(insert) == SQLITE_DONE ? NM_OK : nm_db_fail(db, err);
}

static nm_status end_device(sqlite3 *db, sqlite3_stmt *insert, device_trends *device, nm_error *err)
{
    nm_status status = NM_OK;

    if (device->has_driver)
        status = add_trend(device, (trend){.measure = "device"}, device->device, err);
    for (size_t i = 0; i < device->rows.count && status == NM_OK; i++)
        status = write_trend(db, insert, device, &device->rows.items[i], err);
    device->rows.count = 0;
    device->has_driver = false;
    memset(device->device, 0, device->steps->value_count * sizeof *device->device);
    return status;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* In the same order of processes. */
static const char processes_sql[] =
    "SELECT heap.process_id, coalesce(max(CASE WHEN t.end_seq IS NOT NULL THEN t.last_generation END), 0),"
    " max(input.events_dropped + input.events_damaged + input.events_unrecovered) > 0,"
    " max(input.baseline = 'unknown') FROM step_sum AS t JOIN heap ON heap.heap_id = t.heap_id"
    " JOIN process ON process.process_id = heap.process_id JOIN input ON input.input_id = process.input_id"
    " GROUP BY heap.process_id ORDER BY heap.process_id";

static const char rows_sql[] =
    "SELECT heap.process_id, heap.device_id, coalesce(device.capacity_bytes, 0), t.heap_id, heap.level, t.generation,"
    " t.last_generation, t.peak_bytes, t.live_bytes, t.peak_reserved_bytes, t.number, t.begin_ns"
    " FROM step_sum AS t JOIN heap ON heap.heap_id = t.heap_id JOIN device ON device.device_id = heap.device_id"
    " JOIN process ON process.process_id = heap.process_id ORDER BY heap.process_id, heap.device_id, t.heap_id,"
    " t.generation";

static const char insert_sql[] =
    "INSERT INTO step_trend (device_id, heap_id, measure, step_count, fitted_count, growth_bytes, line_bytes,"
    " scatter_bytes, t_value, t_needed, verdict, reason, limit_bytes, steps_left, full_step, full_ns)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

typedef struct statements {
    sqlite3 *db;
    sqlite3_stmt *processes, *rows, *insert;
    int row_code; /* of `rows` */
} statements;

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
            status = end_device(sql->db, sql->insert, device, err);
        device->device_id = sqlite3_column_int64(row, 1);
        device->capacity_bytes = sqlite3_column_int64(row, 2);
        heap_id = sqlite3_column_int64(row, 3);
        level = sqlite3_column_int64(row, 4);
        take_row(device, row, 5);
        sql->row_code = sqlite3_step(row);
    }
    if (status == NM_OK && heap_id != 0)
        status = end_heap(device, heap_id, level, err);
    return status == NM_OK && heap_id != 0 ? end_device(sql->db, sql->insert, device, err) : status;
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
    };
    nm_status status = NM_OK;

    if (device.allocated.values == NULL || device.reserved.values == NULL || device.device == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = read_rows(sql, &device, err);
    free(device.allocated.values);
    free(device.reserved.values);
    free(device.device);
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

nm_status nm_trend_write(sqlite3 *db, nm_error *err)
{
    statements sql = {.db = db};
    nm_status status = nm_db_prepare(db, processes_sql, &sql.processes, err);

    if (status == NM_OK)
        status = nm_db_prepare(db, rows_sql, &sql.rows, err);
    if (status == NM_OK)
        status = nm_db_prepare(db, insert_sql, &sql.insert, err);
    if (status == NM_OK)
        status = write_processes(&sql, err);
    sqlite3_finalize(sql.processes);
    sqlite3_finalize(sql.rows);
    sqlite3_finalize(sql.insert);
    return status;
}
