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
#include "store/verdicts/trend_add.sql.h"
#include "store/verdicts/trend_foreign.sql.h"
#include "store/verdicts/trend_others.sql.h"
#include "store/verdicts/trend_processes.sql.h"
#include "store/verdicts/trend_shared.sql.h"
#include "store/verdicts/trend_steps.sql.h"
#include "store/verdicts/trend_values.sql.h"
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

static void take_row(device_trends *device, const nm_trend_values_row *row)
{
    step_mark mark = {.generation = row->generation,
                      .number = row->number,
                      .begin_ns = row->has.begin_ns ? row->begin_ns : NM_NO_TIME};
    double held = (double)row->graph_bytes;
    double held_reserved = (double)row->graph_reserved_bytes;
    double peak = (double)row->peak_bytes - held;
    double live = (double)row->live_bytes - held;
    double reserved = (double)row->peak_reserved_bytes - held_reserved;
    int64_t from = row->generation, to = row->last_generation;

    device->allocated.of_graphs = held;
    device->reserved.of_graphs = held_reserved;
    device->has_reserved |= row->has.peak_reserved_bytes;
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

typedef struct full { /* NM_NULL: not known */
    int64_t left_step_count, step, ns;
} full;

/* When the line reaches the limit; false: too far away to say. */
static bool find_full(const process_steps *steps, const nm_trend_fit *fit, double limit, full *out)
{
    double slope = fit->slope / (double)(INT64_C(1) << steps->shift);
    double ahead = ceil((limit - fit->last_line) / slope);
    double known = (double)(steps->last.generation - steps->first.generation);
    double behind = (double)(steps->step_count - steps->last.generation);

    if (!(ahead <= STEPS_AHEAD_MAX))
        return false;
    ahead = ahead < 0 ? 0 : ahead;
    out->left_step_count = (int64_t)ahead;
    if (known <= 0)
        return true;
    double numbers = ((double)steps->last.number - (double)steps->first.number) / known;
    out->step = to_integer((double)steps->last.number + (ahead + behind) * numbers);
    if (steps->first.begin_ns != NM_NO_TIME && steps->last.begin_ns != NM_NO_TIME) {
        double step_ns = ((double)steps->last.begin_ns - (double)steps->first.begin_ns) / known;
        double full_ns = (double)steps->last.begin_ns + (ahead + behind) * step_ns;

        if (full_ns < INTEGER_MAX)
            out->ns = to_integer(full_ns);
    }
    return true;
}

static nm_status write_trend(sqlite3_stmt *insert, const device_trends *device, const trend *row, nm_error *err)
{
    const process_steps *steps = device->steps;
    const nm_trend_fit *fit = &row->fit;
    const char *reason = no_trend(device, row);
    double joined = (double)(INT64_C(1) << steps->shift), limit = limit_of(device, row);
    full end = {NM_NULL, NM_NULL, NM_NULL};
    bool is_growing = reason == NULL, has_fit = row->has_fit;

    if (is_growing && device->capacity_bytes == 0)
        reason = "how large the device is is not known";
    else if (is_growing && !find_full(steps, fit, limit, &end))
        reason = "the device is full in more than a thousand million steps";
    nm_trend_add_bind(insert, device->device_id, row->heap_id == 0 ? NM_NULL : row->heap_id, row->measure,
                      steps->step_count, has_fit ? (int64_t)fit->count << steps->shift : NM_NULL,
                      has_fit ? fit->slope / joined : NAN, has_fit ? to_integer(fit->last_line) : NM_NULL,
                      has_fit ? to_integer(fit->residual) : NM_NULL, has_fit ? fit->t : NAN,
                      has_fit ? fit->t_needed : NAN, is_growing ? "growing" : "none", reason,
                      device->capacity_bytes == 0 ? NM_NULL : to_integer(limit), end.left_step_count, end.step, end.ns);
    return nm_question_step(insert, err);
}

typedef struct statements {
    sqlite3_stmt *processes, *values, *insert;
    sqlite3_stmt *others, *steps, *foreign;
    nm_trend_values_row row; /* the next of `values`, */
    bool has_row;            /* if there is one */
} statements;

/* ---- Who else is on the device ------------------------------------------------------------------------------------ */

static const char unshared_sql[] = "DROP TABLE temp.hardware_change; DROP TABLE temp.shared_device";

/* A step in which no heap of the process did anything counts as well. */
static void take_step(const nm_trend_steps_row *step, process_steps *steps)
{
    step_mark mark = {.generation = step->generation,
                      .number = step->number,
                      .begin_ns = step->has.begin_ns ? step->begin_ns : NM_NO_TIME};

    note_step(steps, &mark, mark.generation);
}

/* Fills `others`: what they held at the end of each step. */
static nm_status read_others(const statements *sql, device_trends *device, nm_error *err)
{
    size_t count = device->steps->value_count, filled = 0;
    nm_trend_others_row change;
    nm_trend_steps_row step;
    double held = 0;

    nm_trend_others_bind(sql->others, device->device_id);
    nm_trend_steps_bind(sql->steps, device->steps->process_id);
    bool has_change = nm_trend_others_next(sql->others, &change);
    device->has_others = has_change;
    while (device->has_others && nm_trend_steps_next(sql->steps, &step)) {
        size_t end = value_at(device->steps, step.generation) + 1;

        take_step(&step, device->steps);
        for (; has_change && change.seq <= step.end_seq; has_change = nm_trend_others_next(sql->others, &change))
            held += (double)change.change_bytes;
        for (; filled < end && filled < count; filled++)
            device->others[filled] = held;
    }
    for (; filled < count; filled++)
        device->others[filled] = held;
    return nm_question_pause(sql->steps, nm_question_pause(sql->others, NM_OK, err), err);
}

/* What the hardware said that is in use beyond what was recorded of it; and its size, where nothing else tells it. */
static nm_status read_foreign(const statements *sql, device_trends *device, nm_error *err)
{
    nm_trend_foreign_row row;

    nm_trend_foreign_bind(sql->foreign, device->device_id);
    bool has_row = nm_trend_foreign_next(sql->foreign, &row);
    device->foreign_bytes = has_row ? (double)row.foreign_bytes : 0;
    if (has_row && device->capacity_bytes == 0)
        device->capacity_bytes = row.total_bytes;
    return nm_question_pause(sql->foreign, NM_OK, err);
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
        status = write_trend(sql->insert, device, &device->rows.items[i], err);
    device->rows.count = 0;
    device->has_driver = false;
    memset(device->device, 0, device->steps->value_count * sizeof *device->device);
    memset(device->others, 0, device->steps->value_count * sizeof *device->others);
    return status;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static nm_status read_rows(statements *sql, device_trends *device, nm_error *err)
{
    const nm_trend_values_row *row = &sql->row;
    int64_t heap_id = 0, level = 0;
    nm_status status = NM_OK;

    while (status == NM_OK && sql->has_row && row->process_id == device->steps->process_id) {
        if (heap_id != 0 && row->heap_id != heap_id)
            status = end_heap(device, heap_id, level, err);
        if (status == NM_OK && heap_id != 0 && row->device_id != device->device_id)
            status = end_device(sql, device, err);
        device->device_id = row->device_id;
        device->capacity_bytes = row->capacity_bytes;
        heap_id = row->heap_id;
        level = row->level_code;
        take_row(device, row);
        sql->has_row = nm_trend_values_next(sql->values, &sql->row);
    }
    if (status == NM_OK && heap_id != 0)
        status = end_heap(device, heap_id, level, err);
    return status == NM_OK && heap_id != 0 ? end_device(sql, device, err) : status;
}

static nm_status write_process(statements *sql, const nm_trend_processes_row *process, nm_error *err)
{
    process_steps steps = steps_of(process->process_id, process->step_count);
    size_t count = steps.value_count + 1;
    device_trends device = {
        .steps = &steps,
        .is_lost = process->is_lost,
        .is_late = process->is_late,
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
    nm_trend_processes_row process;
    nm_status status = NM_OK;

    sql->has_row = nm_trend_values_next(sql->values, &sql->row);
    while (status == NM_OK && nm_trend_processes_next(sql->processes, &process))
        status = write_process(sql, &process, err);
    return status;
}

nm_status nm_trend_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    statements sql = {0};
    struct {
        const char *text;
        sqlite3_stmt **statement;
    } all[] = {{nm_trend_processes_sql, &sql.processes}, {nm_trend_values_sql, &sql.values},
               {nm_trend_add_sql, &sql.insert},          {nm_trend_others_sql, &sql.others},
               {nm_trend_steps_sql, &sql.steps},         {nm_trend_foreign_sql, &sql.foreign}};
    nm_status status = nm_trend_shared_run(db, err);

    (void)settings;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && status == NM_OK; i++)
        status = nm_db_prepare(db, all[i].text, all[i].statement, err);
    if (status == NM_OK)
        status = write_processes(&sql, err);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        status = nm_question_end(*all[i].statement, status, err);
    return status == NM_OK ? nm_db_exec(db, unshared_sql, err) : status;
}
