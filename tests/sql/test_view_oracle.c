/* SPDX-License-Identifier: Apache-2.0
 *
 * Views by site, by operation and by stream against sums that are slow and obvious: random rows go into the store by hand, stay in plain arrays, and
 * every view is worked out again from them by comparing everything with everything. NPUMEM_SEED repeats a run; it is
 * printed.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/load_text.h"
#include "support/run.h"
#include "support/seed.h"
#include "support/suites.h"

#define ROUNDS    60
#define ROWS      300
#define HEAPS     5 /* numbers 1 to 5 */
#define PROCESSES 2
#define FRAMES    9
#define STACKS    14
#define LAST_SEQ  1000
#define STEPS     20
#define NO_SITE   (-1)
#define RUNS      80 /* operations */
#define KINDS     (NM_RANGE_KIND_MAX + 1)
#define NAMES     4  /* of operations; name 0: none */
#define USES      60 /* of workspaces */
#define CALLS     60 /* about streams */
#define STREAMS   3  /* stream 0: not known */

static const nm_heap_level levels[HEAPS + 1] = {
    0, NM_LEVEL_DRIVER, NM_LEVEL_POOL, NM_LEVEL_PINNED, NM_LEVEL_POOL, NM_LEVEL_DRIVER};
static const int process_of_heap[HEAPS + 1] = {0, 1, 1, 1, 2, 2};

/* Frames 1 to 5 are a program's; two of them are one place. 6 to 9 are plumbing. */
static const struct {
    const char *function, *file;
    int line;
} frames[FRAMES + 1] = {{0},
                        {"f", "/s/a.c", 1},
                        {"f", "/s/a.c", 2},
                        {"g", "/s/b.c", 1},
                        {"f", "/s/a.c", 1}, /* frame 1 again */
                        {"h", NULL, 0},
                        {"at::a", NULL, 0},
                        {"c10::b", NULL, 0},
                        {"std::c", NULL, 0},
                        {"x", "/e/torch/nn/x.py", 3}};

static struct {
    int parent, frame;
} stacks[STACKS + 1];

static nm_allocation_row rows[ROWS];
static nm_operation_row runs[RUNS];
static uint64_t run_names[RUNS]; /* below NAMES */
static nm_workspace_row uses[USES];
static nm_stream_call_row calls[CALLS];
static nm_process_end end_kinds[PROCESSES + 1];
static bool has_steps[PROCESSES + 1];
static bool gives_back[HEAPS + 1]; /* at its end it frees as many blocks, or bytes, as are left */
static struct {
    int count;
    int64_t last_seq;
} freed[HEAPS + 1][STACKS + 1]; /* how many of a stack were freed, and the birth of the last of them */
static double live_bytes[HEAPS + 1][STACKS + 1][STEPS + 1], live_counts[HEAPS + 1][STACKS + 1][STEPS + 1];
static char folder[64], path[128];
static nm_error err;
static nm_store *store;

static int pick(int below)
{
    return rand() % below;
}

/* ---- The model ---- */

static bool is_plumbing(int frame)
{
    return frame >= 6;
}

/* Two frames are one place when function, file and line are the same: the smaller number stands for both. */
static int same_place(int frame)
{
    return frame == 4 ? 1 : frame;
}

/* The frame that is the site of a stack; NO_SITE without a stack. Python, be it plumbing, goes before names alone. */
static int site_of(uint64_t stack)
{
    for (int at = (int)stack; at != 0; at = stacks[at].parent)
        if (frames[stacks[at].frame].line == 3)
            return stacks[at].frame;
    for (int at = (int)stack; at != 0; at = stacks[at].parent)
        if (!is_plumbing(stacks[at].frame))
            return same_place(stacks[at].frame);
    return stack == 0 ? NO_SITE : same_place(stacks[stack].frame);
}

static bool is_outstanding(const nm_allocation_row *row)
{
    return row->end_kind == NM_END_NONE && row->alloc_seq != NM_NO_SEQ && !row->is_segment;
}

static bool is_certain(const nm_allocation_row *row)
{
    return is_outstanding(row) && !row->is_doubtful;
}

/* What of a site was live at the ends of all steps; and in which of them something was born that is still there. */
typedef struct history {
    double bytes[STEPS + 1], counts[STEPS + 1];
    bool has_births[STEPS + 1];
} history;

static history history_of(uint64_t heap, int site)
{
    history out = {0};

    for (int stack = 0; stack <= STACKS; stack++)
        for (int step = 0; step <= STEPS && site_of((uint64_t)stack) == site; step++) {
            out.bytes[step] += live_bytes[heap][stack][step];
            out.counts[step] += live_counts[heap][stack][step];
        }
    for (int i = 0; i < ROWS; i++)
        if (is_certain(&rows[i]) && rows[i].heap_id == heap && site_of(rows[i].stack_id) == site)
            out.has_births[rows[i].generation] = true;
    return out;
}

static double least_of(const double *values, int from, int to)
{
    double least = values[from];

    for (int step = from; step <= to; step++)
        least = values[step] < least ? values[step] : least;
    return least;
}

/* Of 20 steps the last does not count; two fifths of 19 are 7.6, so the parts of them end with 14, 16 and 19, and the part
 * before with 11. A fifth of 19 is 3.8: the growth before is that from 5 to 9. */
static bool floors_rise(const double *values)
{
    double before = least_of(values, 9, 11), first = least_of(values, 12, 14), second = least_of(values, 15, 16),
           third = least_of(values, 17, 19);

    return before < first && first < second && second < third &&
           (third - before) / 8 >= 0.35 * (before - least_of(values, 5, 7)) / 4;
}

static bool is_born_in(const history *of, int from, int to)
{
    for (int step = from; step <= to; step++)
        if (of->has_births[step])
            return true;
    return false;
}

static bool falls(const double *values, int from, int to)
{
    for (int step = from + 1; step <= to; step++)
        if (values[step] < values[step - 1])
            return true;
    return false;
}

/* It rises five times at least, by alike amounts (but for the first) and at alike distances. */
static bool is_periodic(const history *of)
{
    int at[STEPS], count = 0;

    for (int step = 1; step < STEPS; step++)
        if (of->bytes[step] != of->bytes[step - 1] || of->counts[step] != of->counts[step - 1])
            at[count++] = step;
    if (count < 5 || falls(of->bytes, 0, STEPS - 1))
        return false;
    for (int i = 1; i < count; i++)
        for (int k = 1; k < count; k++) {
            double rise = of->bytes[at[i]] - of->bytes[at[i] - 1], other = of->bytes[at[k]] - of->bytes[at[k] - 1];

            if (rise > 2 * other || at[i] - at[i - 1] > 1.5 * (at[k] - at[k - 1]))
                return false;
        }
    int longest = 0;
    for (int i = 1; i < count; i++)
        longest = at[i] - at[i - 1] > longest ? at[i] - at[i - 1] : longest;
    return STEPS - 1 - at[count - 1] <= longest;
}

/* What was freed lived within one step here: of the first 18 steps, in five parts alike, 15 blocks and more are left, and of each
 * part about as many. */
static bool outlives_what_is_freed(uint64_t heap, int site)
{
    int counts[5] = {0}, all = 0;
    bool has_freed = false;

    for (int stack = 0; stack <= STACKS; stack++)
        has_freed |= site_of((uint64_t)stack) == site && freed[heap][stack].count > 0;
    for (int i = 0; i < ROWS; i++)
        if (is_certain(&rows[i]) && rows[i].heap_id == heap && site_of(rows[i].stack_id) == site &&
            rows[i].generation >= 1 && rows[i].generation <= STEPS - 2) {
            counts[(rows[i].generation - 1) * 5 / (STEPS - 2)]++;
            all++;
        }
    for (int part = 0; part < 5; part++)
        if (counts[part] * 5 < 0.35 * all)
            return false;
    return has_freed && all >= 15;
}

/* The oldest has outlived all that was freed. */
static bool is_growing_site(uint64_t heap, int site)
{
    history of = history_of(heap, site);
    bool is_driver = levels[heap] == NM_LEVEL_DRIVER;
    bool is_spread = is_born_in(&of, 12, 14) && is_born_in(&of, 15, 16) && is_born_in(&of, 17, STEPS);

    if (!has_steps[process_of_heap[heap]])
        return false;
    if (!is_driver && outlives_what_is_freed(heap, site))
        return true;
    if (!floors_rise(of.bytes))
        return !is_driver && is_periodic(&of);
    return (!falls(of.bytes, 11, 19) && (is_spread || !is_driver)) || (is_spread && floors_rise(of.counts));
}

static bool is_like(const nm_allocation_row *row, const nm_allocation_row *other, int64_t generation)
{
    return is_certain(other) && other->heap_id == row->heap_id && other->stack_id == row->stack_id &&
           other->size_bytes == row->size_bytes && other->generation == generation;
}

/* What was there before the first step is no leak; and of the first step only the youngest, as many as of a later one. */
static bool may_leak(const nm_allocation_row *row)
{
    int most = 0, younger = 0;

    for (int step = 2; step <= STEPS; step++) {
        int count = 0;

        for (int i = 0; i < ROWS; i++)
            count += is_like(row, &rows[i], step);
        most = count > most ? count : most;
    }
    for (int i = 0; i < ROWS; i++)
        younger += is_like(row, &rows[i], 1) &&
                   (rows[i].alloc_seq > row->alloc_seq ||
                    (rows[i].alloc_seq == row->alloc_seq && rows[i].allocation_id > row->allocation_id));
    return row->generation > 1 || (row->generation == 1 && younger < most);
}

/* The first of those that are like it in all was born before something of the stack that was freed. */
static bool is_older(const nm_allocation_row *row)
{
    for (int i = 0; i < ROWS; i++)
        if (is_like(row, &rows[i], row->generation) && rows[i].alloc_seq < freed[row->heap_id][row->stack_id].last_seq)
            return true;
    return false;
}

/* Others of its stack were freed, and no fewer. */
static bool is_forgotten(const nm_allocation_row *row)
{
    int left = 0;

    for (int i = 0; i < ROWS; i++)
        left += is_certain(&rows[i]) && rows[i].heap_id == row->heap_id && rows[i].stack_id == row->stack_id &&
                is_older(&rows[i]);
    return row->stack_id != 0 && is_older(row) && freed[row->heap_id][row->stack_id].count >= left;
}

static const char *verdict_of(const nm_allocation_row *row)
{
    nm_heap_level level = levels[row->heap_id];

    if (!is_outstanding(row) || row->is_doubtful)
        return NULL;
    if (is_growing_site(row->heap_id, site_of(row->stack_id)))
        return may_leak(row) ? "growing" : NULL;
    if ((level == NM_LEVEL_DRIVER || level == NM_LEVEL_PINNED) &&
        end_kinds[process_of_heap[row->heap_id]] == NM_PROCESS_EXIT && (gives_back[row->heap_id] || is_forgotten(row)))
        return "unreleased";
    return NULL;
}

/* ---- Feeding ---- */

static void define(nm_definition definition)
{
    const nm_sink *sink = nm_store_sink(store);

    ck_assert_int_eq(nm_give_definition(sink, &definition, &err), NM_OK);
}

static uint64_t define_string(const char *text)
{
    static uint64_t count;

    if (text == NULL)
        return 0;
    define((nm_definition){.kind = NM_DEFINE_STRING, .id = ++count, .string = {(const uint8_t *)text, strlen(text)}});
    return count;
}

static void define_places(void)
{
    const nm_sink *sink = nm_store_sink(store);

    for (int id = 1; id <= PROCESSES; id++) {
        nm_process_end_row end = {.process_id = (uint64_t)id, .end_kind = end_kinds[id], .end_ns = NM_NO_TIME};

        define((nm_definition){
            .kind = NM_DEFINE_PROCESS, .id = (uint64_t)id, .process = {.pid = id, .rank = id, .begin_ns = NM_NO_TIME}});
        ck_assert_int_eq(nm_give_process_end(sink, &end, &err), NM_OK);
        for (int number = 1; has_steps[id] && number <= STEPS; number++) {
            nm_step_row step = {.step_id = (uint64_t)(id * 100 + number),
                                .process_id = (uint64_t)id,
                                .number = number,
                                .generation = number,
                                .end_seq = NM_NO_SEQ,
                                .source = NM_STEP_MARKED};

            ck_assert_int_eq(nm_give_step(sink, &step, &err), NM_OK);
        }
    }
    for (uint64_t id = 1; id <= HEAPS; id++)
        define((nm_definition){.kind = NM_DEFINE_HEAP,
                               .id = id,
                               .heap = {.process_id = (uint64_t)process_of_heap[id], .level = (uint64_t)levels[id]}});
    for (uint64_t id = 1; id <= FRAMES; id++) {
        nm_definition frame = {.kind = NM_DEFINE_FRAME, .id = id};

        frame.frame.function = define_string(frames[id].function);
        frame.frame.file = define_string(frames[id].file);
        frame.frame.line = (uint64_t)frames[id].line;
        define(frame);
    }
    for (int id = 1; id <= STACKS; id++) {
        stacks[id].parent = pick(id); /* 0 or one before */
        stacks[id].frame = 1 + pick(FRAMES);
        define((nm_definition){.kind = NM_DEFINE_STACK,
                               .id = (uint64_t)id,
                               .stack = {(uint64_t)stacks[id].parent, (uint64_t)stacks[id].frame}});
    }
}

static void load_runs(void)
{
    const nm_sink *sink = nm_store_sink(store);
    uint64_t strings[NAMES] = {0, define_string("mm"), define_string("add"), define_string("it 'is'")};

    for (uint64_t i = 0; i < RUNS; i++) {
        int64_t begin_ns = pick(5) == 0 ? NM_NO_TIME : pick(100);

        run_names[i] = (uint64_t)pick(NAMES);
        runs[i] = (nm_operation_row){.operation_id = i + 1,
                                     .process_id = 1 + (uint64_t)pick(PROCESSES),
                                     .kind = (nm_range_kind)pick(KINDS),
                                     .name = strings[run_names[i]],
                                     .begin_ns = begin_ns,
                                     .end_ns = pick(5) == 0 ? NM_NO_TIME : 100 + pick(100),
                                     .error_code = pick(3) == 0 ? NM_UNKNOWN_NUMBER : pick(2)};
        ck_assert_int_eq(nm_give_operation(sink, &runs[i], &err), NM_OK);
    }
}

static void load_uses(void)
{
    const nm_sink *sink = nm_store_sink(store);

    for (uint64_t i = 0; i < USES; i++) {
        const nm_operation_row *run = &runs[pick(RUNS)];
        const nm_allocation_row *block = pick(4) == 0 ? NULL : &rows[pick(ROWS)];

        uses[i] = (nm_workspace_row){.workspace_id = i + 1,
                                     .operation_id = run->operation_id,
                                     .process_id = run->process_id,
                                     .operation_kind = run->kind,
                                     .operation_name = run->name,
                                     .allocation_id = block == NULL ? 0 : block->allocation_id,
                                     .heap_id = block == NULL ? 0 : block->heap_id,
                                     .seq = (int64_t)i,
                                     .ns = NM_NO_TIME,
                                     .requested_bytes = 1 + (uint64_t)pick(50),
                                     .block_bytes = block == NULL ? 0 : 50 + (uint64_t)pick(50),
                                     .is_reused = block == NULL ? NM_UNKNOWN_NUMBER : pick(2)};
        ck_assert_int_eq(nm_give_workspace(sink, &uses[i], &err), NM_OK);
    }
}

static void load_calls(void)
{
    const nm_sink *sink = nm_store_sink(store);

    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t stream = (uint64_t)pick(STREAMS);

        calls[i] = (nm_stream_call_row){.stream_call_id = i + 1,
                                        .process_id = 1 + (uint64_t)pick(PROCESSES),
                                        .kind = (nm_stream_call)pick(NM_STREAM_CALL_MAX + 1),
                                        .has_stream = stream != 0,
                                        .stream = stream,
                                        .seq = (int64_t)i,
                                        .ns = NM_NO_TIME,
                                        .cost_ns = (uint64_t)pick(4),
                                        .error_code = pick(3) == 0};
        ck_assert_int_eq(nm_give_stream_call(sink, &calls[i], &err), NM_OK);
    }
}

static nm_allocation_row random_row(uint64_t id)
{
    const nm_operation_row *run = pick(3) == 0 ? NULL : &runs[pick(RUNS)];
    bool is_live = pick(3) == 0;
    bool is_baseline = pick(12) == 0;
    int64_t seq = pick(LAST_SEQ);

    return (nm_allocation_row){
        .allocation_id = id,
        .heap_id = 1 + (uint64_t)pick(HEAPS),
        .stack_id = is_baseline ? 0 : (uint64_t)pick(STACKS + 1),
        .address = id * 4096,
        .size_bytes = 1 + (uint64_t)pick(4),
        .operation_id = run == NULL ? 0 : run->operation_id,
        .operation_source = run == NULL ? NM_SOURCE_NONE : (nm_operation_source)(1 + pick(3)),
        .operation_kind = run == NULL ? 0 : run->kind,
        .operation_name = run == NULL ? 0 : run->name,
        .split_from_id = is_baseline || pick(20) != 0 ? 0 : 1 + (uint64_t)pick(ROWS),
        .alloc_seq = is_baseline ? NM_NO_SEQ : seq,
        .alloc_ns = NM_NO_TIME,
        .free_requested_seq = NM_NO_SEQ,
        .free_seq = is_live ? NM_NO_SEQ : LAST_SEQ,
        .free_ns = NM_NO_TIME,
        .end_kind = is_live ? NM_END_NONE : (nm_allocation_end)(1 + pick(4)),
        .is_miss = NM_UNKNOWN_NUMBER,
        .is_segment = pick(10) == 0,
        .is_doubtful = is_live && pick(10) == 0,
        .generation = is_live && !is_baseline ? seq * 20 / (LAST_SEQ + 1) : NM_UNKNOWN_NUMBER,
    };
}

/* What is outstanding was live from its birth on; and of every third stack what comes and goes as it likes. */
static void fill_levels(void)
{
    memset(live_bytes, 0, sizeof live_bytes);
    memset(live_counts, 0, sizeof live_counts);
    for (int i = 0; i < ROWS; i++)
        for (int64_t step = rows[i].generation; is_outstanding(&rows[i]) && step <= STEPS; step++) {
            live_bytes[rows[i].heap_id][rows[i].stack_id][step] += (double)rows[i].size_bytes;
            live_counts[rows[i].heap_id][rows[i].stack_id][step]++;
        }
    for (int heap = 1; heap <= HEAPS; heap++)
        for (int stack = 0; stack <= STACKS; stack++)
            for (int step = 0, is_busy = pick(3) == 0; step <= STEPS && is_busy; step++) {
                live_bytes[heap][stack][step] += pick(4);
                live_counts[heap][stack][step] += pick(2);
            }
}

static void load_freed(uint64_t heap)
{
    const nm_sink *sink = nm_store_sink(store);

    for (uint64_t stack = 0; stack <= STACKS; stack++) {
        nm_lifetime_row row = {.heap_id = heap, .stack_id = stack, .bucket = -1};

        freed[heap][stack].count = pick(4);
        freed[heap][stack].last_seq = freed[heap][stack].count == 0 ? NM_NO_SEQ : pick(LAST_SEQ);
        row.freed_count = (uint64_t)freed[heap][stack].count;
        row.last_alloc_seq = freed[heap][stack].last_seq;
        if (row.freed_count > 0)
            ck_assert_int_eq(nm_give_lifetime(sink, &row, &err), NM_OK);
    }
}

/* Rows say what has changed. */
static void load_levels(void)
{
    const nm_sink *sink = nm_store_sink(store);

    fill_levels();
    for (int heap = 1; heap <= HEAPS; heap++) {
        nm_heap_total_row sum = {.heap_id = (uint64_t)heap};

        for (int i = 0; i < ROWS; i++)
            if (is_outstanding(&rows[i]) && rows[i].heap_id == (uint64_t)heap) {
                sum.outstanding_count++;
                sum.outstanding_bytes += rows[i].size_bytes;
            }
        /* By one of both it just does; or by both it just does not. */
        gives_back[heap] &= sum.outstanding_count > 1 && sum.outstanding_bytes > 0;
        bool by_bytes = gives_back[heap] && pick(2) == 1;
        if (sum.outstanding_count > 1 && sum.outstanding_bytes > 0) {
            sum.released_count = sum.outstanding_count - !(gives_back[heap] && !by_bytes);
            sum.released_bytes = sum.outstanding_bytes - !by_bytes;
        }
        load_freed((uint64_t)heap);
        for (int stack = 0; stack <= STACKS; stack++)
            for (int step = 0; step <= STEPS && has_steps[process_of_heap[heap]]; step++) {
                double bytes = live_bytes[heap][stack][step] - (step == 0 ? 0 : live_bytes[heap][stack][step - 1]);
                double count = live_counts[heap][stack][step] - (step == 0 ? 0 : live_counts[heap][stack][step - 1]);
                nm_step_site_row row = {.heap_id = (uint64_t)heap,
                                        .stack_id = (uint64_t)stack,
                                        .generation = step,
                                        .changed_bytes = (int64_t)bytes,
                                        .changed_count = (int64_t)count};

                if (bytes != 0 || count != 0)
                    ck_assert_int_eq(nm_give_step_site(sink, &row, &err), NM_OK);
            }
        ck_assert_int_eq(nm_give_heap_total(sink, &sum, &err), NM_OK);
    }
}

static void load_random(void)
{
    nm_store_options options = {.is_forced = true, .input_fd = -1};
    nm_input_row input = load_whole_input(LAST_SEQ + 1);
    const nm_sink *sink;

    for (int id = 1; id <= PROCESSES; id++) {
        end_kinds[id] = (nm_process_end)pick(3);
        has_steps[id] = pick(2) == 1;
    }
    for (int id = 1; id <= HEAPS; id++)
        gives_back[id] = pick(2) == 1;
    ck_assert_msg(nm_store_open(path, &options, &store, &err) == NM_OK, "%s", err.text);
    define_places();
    sink = nm_store_sink(store);
    load_runs();
    for (int i = 0; i < ROWS; i++) {
        rows[i] = random_row((uint64_t)i + 1);
        ck_assert_int_eq(nm_give_allocation(sink, &rows[i], &err), NM_OK);
    }
    load_levels();
    load_uses();
    load_calls();
    ck_assert_msg(nm_store_finish(store, &input, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_store_publish(store, &err) == NM_OK, "%s", err.text);
    nm_store_close(store);
}

/* ---- Comparing ---- */

static const char *label_of(int site)
{
    static char label[64];

    if (site == NO_SITE)
        return "(no stack)";
    if (frames[site].file == NULL)
        return frames[site].function;
    snprintf(label, sizeof label, "%s:%d %s", strrchr(frames[site].file, '/') + 1, frames[site].line,
             frames[site].function);
    return label;
}

static void compare_outstanding(sqlite3 *db)
{
    int64_t count = 0, bytes = 0;

    for (int i = 0; i < ROWS; i++) {
        char sql[256];

        count += is_outstanding(&rows[i]);
        bytes += is_outstanding(&rows[i]) ? (int64_t)rows[i].size_bytes : 0;
        snprintf(sql, sizeof sql, "SELECT count(*) FROM outstanding WHERE allocation_id = %d AND site = '%s'", i + 1,
                 label_of(site_of(rows[i].stack_id)));
        ck_assert_msg(load_int(db, sql) == is_outstanding(&rows[i]), "%s", sql);
    }
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM outstanding"), count);
    ck_assert_int_eq(load_int(db, "SELECT coalesce(sum(size_bytes), 0) FROM outstanding_by_site"), bytes);
}

static int64_t compare_leaks(sqlite3 *db)
{
    int64_t count = 0, growing_count = 0;

    for (int i = 0; i < ROWS; i++) {
        const char *verdict = verdict_of(&rows[i]);
        char sql[256];

        count += verdict != NULL;
        growing_count += verdict != NULL && strcmp(verdict, "growing") == 0;
        snprintf(sql, sizeof sql, "SELECT count(*) FROM leak WHERE allocation_id = %d AND verdict = '%s'", i + 1,
                 verdict == NULL ? "" : verdict);
        ck_assert_msg(load_int(db, sql) == (verdict != NULL), "%s", sql);
    }
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak"), count);
    ck_assert_int_eq(load_int(db, "SELECT coalesce(sum(leak_count), 0) FROM leak_by_site"), count);
    return growing_count;
}

typedef struct site_sum {
    int64_t count, bytes, first, last, generations, first_generation, last_generation;
    bool seen[32];
} site_sum;

static void add_row(site_sum *sum, const nm_allocation_row *row)
{
    if (sum->count == 0 || row->alloc_seq < sum->first)
        sum->first = row->alloc_seq;
    if (sum->count == 0 || row->alloc_seq > sum->last)
        sum->last = row->alloc_seq;
    if (sum->count == 0 || row->generation < sum->first_generation)
        sum->first_generation = row->generation;
    if (sum->count == 0 || row->generation > sum->last_generation)
        sum->last_generation = row->generation;
    sum->count++;
    sum->bytes += (int64_t)row->size_bytes;
    sum->generations += !sum->seen[row->generation];
    sum->seen[row->generation] = true;
}

/* Of those of the first step that are alike some leak, and which is only known of the rows: their sum begins with the first. */
static int64_t first_alike(const nm_allocation_row *row)
{
    int64_t first = row->alloc_seq;

    for (int i = 0; i < ROWS && row->generation == 1; i++)
        if (is_like(row, &rows[i], 1) && rows[i].alloc_seq < first)
            first = rows[i].alloc_seq;
    return first;
}

/* One heap, one site, and of leaks one verdict (NULL: outstanding). */
static site_sum sum_site(uint64_t heap, int site, const char *verdict)
{
    site_sum sum = {0};

    for (int i = 0; i < ROWS; i++) {
        const char *own = verdict_of(&rows[i]);

        if (rows[i].heap_id != heap || site_of(rows[i].stack_id) != site || !is_outstanding(&rows[i]))
            continue;
        if (verdict == NULL || (own != NULL && strcmp(own, verdict) == 0))
            add_row(&sum, &rows[i]);
        if (verdict != NULL && own != NULL && strcmp(own, verdict) == 0 && first_alike(&rows[i]) < sum.first)
            sum.first = first_alike(&rows[i]);
    }
    return sum;
}

static void compare_site(sqlite3 *db, uint64_t heap, int site)
{
    static const char *const verdicts[] = {"growing", "unreleased"};
    int process = process_of_heap[heap];
    site_sum sum = sum_site(heap, site, NULL);
    char sql[600], per_step[32];

    /* Heaps have no names here; process and level tell them apart. */
    snprintf(
        sql, sizeof sql,
        "SELECT count(*) FROM outstanding_by_site AS v JOIN z_heap_place AS p ON p.pid = v.pid AND p.level = v.level"
        " WHERE p.heap_id = %" PRIu64 " AND v.site = '%s' AND allocation_count = %" PRId64 " AND size_bytes = %" PRId64
        " AND first_seq = %" PRId64 " AND last_seq = %" PRId64 " AND generation_count = %" PRId64,
        heap, label_of(site), sum.count, sum.bytes, sum.first, sum.last, sum.generations);
    ck_assert_msg(load_int(db, sql) == (sum.count > 0), "%s", sql);
    for (int v = 0; v < 2; v++) {
        sum = sum_site(heap, site, verdicts[v]);
        snprintf(per_step, sizeof per_step, "%" PRId64,
                 sum.count == 0 ? 0 : sum.bytes / (sum.last_generation - sum.first_generation + 1));
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM leak_by_site AS v JOIN z_heap_place AS p ON p.pid = v.pid AND p.level = v.level"
                 " WHERE p.heap_id = %" PRIu64 " AND v.site = '%s' AND verdict = '%s' AND leak_count = %" PRId64
                 " AND leak_bytes = %" PRId64 " AND first_seq = %" PRId64 " AND last_seq = %" PRId64
                 " AND generation_count = %" PRId64 " AND bytes_per_step IS %s",
                 heap, label_of(site), verdicts[v], sum.count, sum.bytes, sum.first, sum.last, sum.generations,
                 has_steps[process] ? per_step : "NULL");
        ck_assert_msg(load_int(db, sql) == (sum.count > 0), "%s", sql);
    }
}

/* ---- Operations and streams ---- */

/* A name in SQL; of none and of nothing NULL. */
static const char *quoted(uint64_t name)
{
    static const char *const names[NAMES] = {"NULL", "'mm'", "'add'", "'it ''is'''"};

    return names[name];
}

static const char *kind_in_sql(int kind)
{
    static const char *const kinds[KINDS] = {"'range'",    "'operator'", "'annotation'", "'model'",
                                             "'category'", "'module'",   "'model load'", "'model unload'"};

    return kind < 0 ? "NULL" : kinds[kind];
}

/* kind -1: the allocations without an operation. */
static bool is_of(const nm_allocation_row *row, int kind, uint64_t name)
{
    if (row->operation_id == 0)
        return kind == -1;
    return (int)runs[row->operation_id - 1].kind == kind && run_names[row->operation_id - 1] == name;
}

static void compare_operation_memory(sqlite3 *db, uint64_t heap, int kind, uint64_t name)
{
    uint64_t count = 0, bytes = 0, most = 0, outstanding_count = 0, outstanding_bytes = 0, by_source[4] = {0};
    char sql[600];

    for (int i = 0; i < ROWS; i++) {
        const nm_allocation_row *row = &rows[i];

        if (row->heap_id != heap || !is_of(row, kind, name))
            continue;
        if (row->alloc_seq != NM_NO_SEQ && row->split_from_id == 0) {
            count++;
            bytes += row->size_bytes;
            most = row->size_bytes > most ? row->size_bytes : most;
            by_source[row->operation_source]++;
        }
        outstanding_count += is_outstanding(row);
        outstanding_bytes += is_outstanding(row) ? row->size_bytes : 0;
    }
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM operation_memory AS v JOIN z_heap_place AS p ON p.pid = v.pid AND p.level = v.level"
             " WHERE p.heap_id = %" PRIu64 " AND v.kind IS %s AND v.operation IS %s AND allocation_count = %" PRIu64
             " AND allocated_bytes = %" PRIu64 " AND max_bytes = %" PRIu64 " AND outstanding_count = %" PRIu64
             " AND outstanding_bytes = %" PRIu64 " AND thread_count = %" PRIu64 " AND workspace_count = %" PRIu64
             " AND queue_count = %" PRIu64,
             heap, kind_in_sql(kind), quoted(name), count, bytes, most, outstanding_count, outstanding_bytes,
             by_source[NM_SOURCE_THREAD], by_source[NM_SOURCE_WORKSPACE], by_source[NM_SOURCE_QUEUE]);
    ck_assert_msg(load_int(db, sql) == (count + outstanding_count > 0), "%s", sql);
}

typedef struct run_sum {
    int64_t runs, uses, requested, most, most_block, reused, duration, errors;
    bool has_duration, has_many_heaps;
    uint64_t heap;
} run_sum;

static void add_use(run_sum *sum, const nm_workspace_row *use)
{
    int64_t requested = (int64_t)use->requested_bytes;

    sum->uses++;
    sum->requested += requested;
    sum->most = requested > sum->most ? requested : sum->most;
    sum->most_block = (int64_t)use->block_bytes > sum->most_block ? (int64_t)use->block_bytes : sum->most_block;
    sum->reused += use->is_reused == 1;
    if (use->heap_id == 0)
        return;
    sum->has_many_heaps |= sum->heap != 0 && sum->heap != use->heap_id;
    sum->heap = use->heap_id;
}

static run_sum sum_runs(uint64_t process, int kind, uint64_t name)
{
    run_sum sum = {0};

    for (int i = 0; i < RUNS; i++) {
        const nm_operation_row *run = &runs[i];

        if (run->process_id != process || (int)run->kind != kind || run_names[i] != name)
            continue;
        sum.runs++;
        sum.errors += run->error_code == 1;
        if (run->begin_ns != NM_NO_TIME && run->end_ns != NM_NO_TIME) {
            sum.has_duration = true;
            sum.duration += run->end_ns - run->begin_ns;
        }
        for (int u = 0; u < USES; u++)
            if (uses[u].operation_id == run->operation_id)
                add_use(&sum, &uses[u]);
    }
    return sum;
}

static const char *number_or_null(char out[32], bool is_known, int64_t number)
{
    snprintf(out, 32, "%" PRId64, number);
    return is_known ? out : "NULL";
}

static void compare_workspaces(sqlite3 *db, uint64_t process, int kind, uint64_t name)
{
    run_sum sum = sum_runs(process, kind, name);
    char sql[700], block[32], duration[32], heap[128] = "h.level IS NULL";

    if (sum.heap != 0 && !sum.has_many_heaps)
        snprintf(heap, sizeof heap, "h.level = (SELECT p.level FROM z_heap_place AS p WHERE p.heap_id = %" PRIu64 ")",
                 sum.heap);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM z_operation_sum AS v JOIN process USING (process_id) JOIN operation_kind AS k USING "
             "(kind)"
             " LEFT JOIN z_heap_place AS h ON h.heap_id = v.heap_id WHERE process.pid = %" PRIu64
             " AND k.name = %s AND v.name"
             " IS %s AND run_count = %" PRId64 " AND workspace_count = %" PRId64 " AND requested_bytes = %" PRId64
             " AND max_requested_bytes = %" PRId64 " AND max_block_bytes IS %s AND reused_count = %" PRId64
             " AND duration_ns IS %s AND error_count = %" PRId64 " AND %s",
             process, kind_in_sql(kind), quoted(name), sum.runs, sum.uses, sum.requested, sum.most,
             number_or_null(block, sum.most_block != 0, sum.most_block), sum.reused,
             number_or_null(duration, sum.has_duration, sum.duration), sum.errors, heap);
    ck_assert_msg(load_int(db, sql) == (sum.runs > 0), "%s", sql);
}

static void compare_calls(sqlite3 *db, uint64_t process, int kind, uint64_t stream)
{
    int64_t count = 0, cost = 0, errors = 0;
    char sql[500], cost_text[32], stream_text[32];

    for (int i = 0; i < CALLS; i++) {
        if (calls[i].process_id != process || (int)calls[i].kind != kind || calls[i].stream != stream)
            continue;
        count++;
        cost += (int64_t)calls[i].cost_ns;
        errors += calls[i].error_code != 0;
    }
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM z_stream_call_sum AS v JOIN process AS p USING (process_id) WHERE p.pid = %" PRIu64
             " AND v.kind = %d AND v.stream IS %s AND call_count = %" PRId64 " AND cost_ns IS %s"
             " AND error_count = %" PRId64,
             process, kind, number_or_null(stream_text, stream != 0, (int64_t)stream), count,
             number_or_null(cost_text, cost != 0, cost), errors);
    ck_assert_msg(load_int(db, sql) == (count > 0), "%s", sql);
}

static void compare_operations(sqlite3 *db)
{
    for (uint64_t heap = 1; heap <= HEAPS; heap++)
        for (int kind = -1; kind < KINDS; kind++)
            for (uint64_t name = 0; name < (kind < 0 ? 1 : NAMES); name++)
                compare_operation_memory(db, heap, kind, name);
    for (uint64_t process = 1; process <= PROCESSES; process++) {
        for (int kind = 0; kind < KINDS; kind++)
            for (uint64_t name = 0; name < NAMES; name++)
                compare_workspaces(db, process, kind, name);
        for (int kind = 0; kind <= NM_STREAM_CALL_MAX; kind++)
            for (uint64_t stream = 0; stream < STREAMS; stream++)
                compare_calls(db, process, kind, stream);
    }
    ck_assert_int_eq(load_int(db, "SELECT sum(call_count) FROM z_stream_call_sum"), CALLS);
}

START_TEST(views_equal_slow_sums)
{
    unsigned seed = (unsigned)seed_of_test(1);
    int64_t growing_count = 0;

    srand(seed);
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
    for (int round = 0; round < ROUNDS; round++) {
        load_random();
        sqlite3 *db = load_open(path);

        compare_outstanding(db);
        growing_count += compare_leaks(db);
        compare_operations(db);
        for (uint64_t heap = 1; heap <= HEAPS; heap++)
            for (int site = NO_SITE; site <= FRAMES; site++)
                if (site != 0 && site != 4)
                    compare_site(db, heap, site);
        sqlite3_close(db);
    }
    ck_assert_int_gt(growing_count, 0);
    run_remove_folder(folder);
}
END_TEST

TEST_SUITE(test_view_oracle)
{
    Suite *suite = suite_create("views against slow sums");
    TCase *tcase = tcase_create("oracle");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, views_equal_slow_sums);
    suite_add_tcase(suite, tcase);
    return suite;
}
