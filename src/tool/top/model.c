/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples of what heaps and sites hold are taken as the recording's own time goes on, so that a trace that is read in one go
 * shows the growth of its last minute as one that was watched. Each costs a walk over what is live: while much is behind they
 * may take a part of the time, no more, and then lie further apart.
 */
#include "tool/top/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "drain/clock.h"
#include "tool/top/names.h"

#define WINDOW_NS     60000000000 /* growth is over this long, or the later half of a recording that is young */
#define SAMPLE_NS     2000000000  /* between samples; an eighth of the time of a young one */
#define SAMPLE_NS_MIN 100000000
#define SAMPLES_MAX   128
#define FREE_COST_NS  100000000 /* samples may take this, and then a quarter of the time */

typedef struct process_now {
    uint64_t id;
    int64_t rank;
    uint64_t host_bytes;
    bool is_over;
} process_now;

typedef struct site_now {
    uint32_t name; /* of top_names */
    uint64_t level;
    uint64_t live_bytes, live_count;
} site_now;

typedef struct past_sums {
    int64_t time_ns;
    uint64_t *heap_bytes, *site_bytes; /* owned; by index; those behind the count were not there */
    uint64_t host_bytes;
    size_t heap_count, site_count;
} past_sums;

struct top_model {
    nm_watch *watch;
    top_names *names;
    int64_t time_ns;
    process_now *processes; /* owned */
    size_t process_count, process_capacity;
    nm_map process_index;
    site_now *sites; /* owned */
    size_t site_count, site_capacity;
    nm_map site_index; /* (level, name) -> index */
    top_heap *heaps;   /* owned; by the order of definition */
    size_t heap_count, heap_capacity;
    size_t last_heap;               /* that was asked for */
    past_sums samples[SAMPLES_MAX]; /* the oldest first */
    size_t sample_count;
    int64_t began_ns, cost_ns; /* wall time: of the first record, and in samples */
    top_site *shown_sites;     /* owned */
    size_t shown_site_capacity;
    top_heap *shown_heaps; /* owned */
    size_t shown_heap_capacity;
};

nm_status top_model_new(top_model **out, nm_error *err)
{
    top_model *model = calloc(1, sizeof *model);
    nm_status status =
        model == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_watch_new(&model->watch, err);

    if (status == NM_OK)
        status = top_names_new(&model->names, err);
    if (status == NM_OK) {
        model->time_ns = NM_NO_TIME;
        model->began_ns = nm_clock_monotonic_ns();
    } else {
        top_model_free(model);
        model = NULL;
    }
    *out = model;
    return status;
}

static void free_sample(past_sums *old)
{
    free(old->heap_bytes);
    free(old->site_bytes);
    *old = (past_sums){0};
}

void top_model_free(top_model *model)
{
    if (model == NULL)
        return;
    for (size_t i = 0; i < model->sample_count; i++)
        free_sample(&model->samples[i]);
    nm_watch_free(model->watch);
    top_names_free(model->names);
    nm_map_free(&model->process_index);
    nm_map_free(&model->site_index);
    free(model->processes);
    free(model->sites);
    free(model->heaps);
    free(model->shown_sites);
    free(model->shown_heaps);
    free(model);
}

/* ---- Processes ----------------------------------------------------------------------------------------------------- */

static nm_status process_at(top_model *model, uint64_t id, process_now **out, nm_error *err)
{
    uint64_t index = 0;
    nm_status status =
        nm_array_grow(&model->processes, &model->process_capacity, model->process_count + 1, sizeof **out, err);

    if (status == NM_OK)
        status = nm_map_number(&model->process_index, (nm_key){0, id}, &index, err);
    if (status != NM_OK)
        return status;
    if (index == model->process_count)
        model->processes[model->process_count++] = (process_now){.id = id, .rank = NM_UNKNOWN_NUMBER};
    *out = &model->processes[index];
    return NM_OK;
}

static const process_now *find_process(const top_model *model, uint64_t id)
{
    const uint64_t *index = nm_map_get(&model->process_index, (nm_key){0, id});

    return index == NULL ? NULL : &model->processes[*index];
}

static size_t count_over(const top_model *model)
{
    size_t count = 0;

    for (size_t i = 0; i < model->process_count; i++)
        count += model->processes[i].is_over;
    return count;
}

static uint64_t sum_host(const top_model *model)
{
    bool has_running = count_over(model) < model->process_count;
    uint64_t bytes = 0;

    for (size_t i = 0; i < model->process_count; i++)
        bytes += has_running && model->processes[i].is_over ? 0 : model->processes[i].host_bytes;
    return bytes;
}

/* ---- What is live -------------------------------------------------------------------------------------------------- */

typedef struct live_walk {
    top_model *model;
    bool has_running; /* what ended processes held is not held any more, while others go on */
    nm_status status;
    nm_error *err;
} live_walk;

static uint64_t level_of(top_model *model, uint64_t heap_id);

static void add_live(void *context, const nm_live_now *live)
{
    live_walk *walk = context;
    top_model *model = walk->model;
    nm_allocation_row row;
    uint64_t index = 0, level;
    uint32_t name = 0;

    nm_live_row_of(live->live, &row);
    if (walk->status != NM_OK || row.is_segment)
        return;
    level = level_of(model, row.heap_id);
    walk->status = top_names_site(model->names, row.stack_id, live->is_baseline, &name, walk->err);
    if (walk->status == NM_OK)
        walk->status = nm_map_number(&model->site_index, (nm_key){level, name}, &index, walk->err);
    if (walk->status == NM_OK)
        walk->status =
            nm_array_grow(&model->sites, &model->site_capacity, model->site_count + 1, sizeof(site_now), walk->err);
    if (walk->status != NM_OK)
        return;
    if (index == model->site_count)
        model->sites[model->site_count++] = (site_now){.name = name, .level = level};
    model->sites[index].live_bytes += row.size_bytes;
    model->sites[index].live_count++;
}

static void add_heap(void *context, const nm_watch_heap *heap)
{
    live_walk *walk = context;
    top_model *model = walk->model;
    const process_now *process = find_process(model, heap->now.process_id);

    if (walk->status == NM_OK)
        walk->status =
            nm_array_grow(&model->heaps, &model->heap_capacity, model->heap_count + 1, sizeof *model->heaps, walk->err);
    if (walk->status == NM_OK)
        model->heaps[model->heap_count++] = (top_heap){.heap = *heap,
                                                       .rank = process == NULL ? NM_UNKNOWN_NUMBER : process->rank,
                                                       .is_over = process != NULL && process->is_over};
}

/* What is live comes heap after heap, or nearly so. */
static uint64_t level_of(top_model *model, uint64_t heap_id)
{
    for (size_t tried = 0; tried < model->heap_count; tried++) {
        if (model->last_heap >= model->heap_count)
            model->last_heap = 0;
        if (model->heaps[model->last_heap].heap.now.heap_id == heap_id)
            return model->heaps[model->last_heap].heap.now.level;
        model->last_heap++;
    }
    return 0;
}

static void walk_live(live_walk *walk)
{
    top_model *model = walk->model;
    const nm_replay *replay = nm_watch_replay(model->watch);

    if (!walk->has_running) {
        nm_replay_each_live(replay, add_live, walk);
        return;
    }
    for (size_t i = 0; i < model->process_count; i++)
        if (!model->processes[i].is_over)
            nm_replay_each_live_of(replay, model->processes[i].id, add_live, walk);
}

/* Heaps and sites as they are now. */
static nm_status sum_up(top_model *model, uint64_t native_depth, nm_error *err)
{
    live_walk walk = {
        .model = model, .has_running = count_over(model) < model->process_count, .status = NM_OK, .err = err};

    for (size_t i = 0; i < model->site_count; i++)
        model->sites[i].live_bytes = model->sites[i].live_count = 0;
    model->heap_count = 0;
    nm_watch_heaps(model->watch, add_heap, &walk);
    walk.status = top_names_resolve(model->names, native_depth, err);
    if (walk.status == NM_OK)
        walk_live(&walk);
    return walk.status;
}

/* ---- Samples ------------------------------------------------------------------------------------------------------- */

/* Those that are older than the window go, but for the newest of them. */
static void drop_old(top_model *model)
{
    while (model->sample_count > 1 &&
           (model->sample_count == SAMPLES_MAX || model->samples[1].time_ns <= model->time_ns - WINDOW_NS)) {
        free_sample(&model->samples[0]);
        memmove(model->samples, model->samples + 1, --model->sample_count * sizeof *model->samples);
    }
}

static nm_status keep_sample(top_model *model, nm_error *err)
{
    past_sums made = {.time_ns = model->time_ns,
                      .heap_count = model->heap_count,
                      .site_count = model->site_count,
                      .host_bytes = sum_host(model)};

    made.heap_bytes = calloc(made.heap_count + 1, sizeof *made.heap_bytes);
    made.site_bytes = calloc(made.site_count + 1, sizeof *made.site_bytes);
    if (made.heap_bytes == NULL || made.site_bytes == NULL) {
        free_sample(&made);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i < made.heap_count; i++)
        made.heap_bytes[i] = model->heaps[i].heap.now.live_bytes;
    for (size_t i = 0; i < made.site_count; i++)
        made.site_bytes[i] = model->sites[i].live_bytes;
    drop_old(model);
    model->samples[model->sample_count++] = made;
    return NM_OK;
}

static bool is_due(const top_model *model, int64_t time_ns)
{
    int64_t apart_ns = time_ns / 8 > SAMPLE_NS ? SAMPLE_NS : time_ns / 8 < SAMPLE_NS_MIN ? SAMPLE_NS_MIN : time_ns / 8;

    return model->sample_count == 0 || time_ns - model->samples[model->sample_count - 1].time_ns >= apart_ns;
}

/* What growth is compared with; NULL: nothing is that old. */
static const past_sums *sample_before(const top_model *model)
{
    int64_t window_ns = model->time_ns / 2 < WINDOW_NS ? model->time_ns / 2 : WINDOW_NS;
    const past_sums *found = NULL;

    for (size_t i = 0; i < model->sample_count; i++)
        if (model->samples[i].time_ns < model->time_ns &&
            (found == NULL || model->samples[i].time_ns <= model->time_ns - window_ns))
            found = &model->samples[i];
    return found;
}

static nm_status take_sample(top_model *model, uint64_t native_depth, nm_error *err)
{
    int64_t begin_ns = nm_clock_monotonic_ns();
    nm_status status;

    if (model->cost_ns > FREE_COST_NS + (begin_ns - model->began_ns) / 4)
        return NM_OK;
    status = sum_up(model, native_depth, err);
    if (status == NM_OK)
        status = keep_sample(model, err);
    model->cost_ns += nm_clock_monotonic_ns() - begin_ns;
    return status;
}

/* ---- Records ------------------------------------------------------------------------------------------------------- */

static nm_status note_definition(top_model *model, const nm_definition *definition, nm_error *err)
{
    process_now *process;
    nm_status status = top_names_take(model->names, definition, err);

    if (status != NM_OK || definition->kind != NM_DEFINE_PROCESS)
        return status;
    status = process_at(model, definition->id, &process, err);
    if (status == NM_OK)
        process->rank = definition->process.rank;
    return status;
}

static nm_status note_event(top_model *model, const nm_event *event, uint64_t native_depth, nm_error *err)
{
    process_now *process;
    nm_status status = NM_OK;

    if (event->kind == NM_EVENT_PROCESS_END) {
        status = process_at(model, (uint64_t)event->number, &process, err);
        if (status == NM_OK)
            process->is_over = true;
    }
    if (event->kind == NM_EVENT_MEMORY_SAMPLE && event->detail == NM_MEMORY_HOST_ANONYMOUS) {
        status = process_at(model, (uint64_t)event->number, &process, err);
        if (status == NM_OK)
            process->host_bytes = event->size_bytes;
    }
    if (event->time_ns == NM_NO_TIME || event->time_ns <= model->time_ns || nm_event_is_repeat(event))
        return status;
    if (status == NM_OK && model->time_ns != NM_NO_TIME && is_due(model, event->time_ns))
        status = take_sample(model, native_depth, err);
    model->time_ns = event->time_ns;
    return status;
}

nm_status top_model_take(top_model *model, const nm_record *record, uint64_t native_depth, nm_error *err)
{
    nm_status status = record->kind == NM_RECORD_DEFINITION ? note_definition(model, &record->definition, err)
                                                            : note_event(model, &record->event, native_depth, err);

    if (status != NM_OK)
        return status;
    nm_watch_take(model->watch, record);
    return nm_watch_has_failed(model->watch) ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;
}

/* ---- A look -------------------------------------------------------------------------------------------------------- */

static int64_t growth_of(uint64_t now_bytes, const uint64_t *before, size_t count, size_t index)
{
    return (int64_t)(now_bytes - (before == NULL || index >= count ? 0 : before[index]));
}

static nm_status show_heaps(top_model *model, const past_sums *before, top_look *out, nm_error *err)
{
    nm_status status = nm_array_grow(&model->shown_heaps, &model->shown_heap_capacity, model->heap_count + 1,
                                     sizeof *model->shown_heaps, err);

    for (size_t i = 0; i < model->heap_count && status == NM_OK; i++) {
        top_heap *heap = &model->shown_heaps[out->heap_count];

        *heap = model->heaps[i];
        heap->growth_bytes = growth_of(heap->heap.now.live_bytes, before->heap_bytes, before->heap_count, i);
        out->heap_count += heap->heap.now.peak_bytes > 0 || heap->heap.now.reserved_bytes > 0;
    }
    out->heaps = model->shown_heaps;
    return status;
}

static nm_status show_sites(top_model *model, const past_sums *before, top_look *out, nm_error *err)
{
    nm_status status = nm_array_grow(&model->shown_sites, &model->shown_site_capacity, model->site_count + 1,
                                     sizeof *model->shown_sites, err);

    for (size_t i = 0; i < model->site_count && status == NM_OK; i++) {
        const site_now *now = &model->sites[i];

        model->shown_sites[i] = (top_site){
            .name = top_names_text(model->names, now->name),
            .level = now->level,
            .live_bytes = now->live_bytes,
            .live_count = now->live_count,
            .growth_bytes = growth_of(now->live_bytes, before->site_bytes, before->site_count, i),
        };
        out->site_count++;
    }
    out->sites = model->shown_sites;
    return status;
}

nm_status top_model_look(top_model *model, uint64_t native_depth, top_look *out, nm_error *err)
{
    past_sums none = {0};
    const past_sums *before;
    nm_status status = sum_up(model, native_depth, err);

    *out = (top_look){.time_ns = model->time_ns,
                      .process_count = model->process_count,
                      .over_count = count_over(model),
                      .host_bytes = sum_host(model),
                      .watch = model->watch};
    before = model->time_ns == NM_NO_TIME ? NULL : sample_before(model);
    out->growth_ns = before == NULL ? 0 : model->time_ns - before->time_ns;
    before = before == NULL ? &none : before;
    out->host_growth_bytes = before->host_bytes == 0 ? 0 : (int64_t)(out->host_bytes - before->host_bytes);
    if (status == NM_OK)
        status = show_heaps(model, before, out, err);
    if (status == NM_OK)
        status = show_sites(model, before, out, err);
    if (status == NM_OK && model->time_ns != NM_NO_TIME && is_due(model, model->time_ns))
        status = keep_sample(model, err);
    return status;
}
