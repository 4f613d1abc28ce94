/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers: process 1; its threads in the order in which they are met, behind one that stands for the whole process; devices and heaps
 * likewise. Operators go to their pools when all is there: which pool a row is of says the record of the same time and sum.
 */
#include "source/ascend_profiler.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/spoken.h"

#define PROCESS      1
#define MAIN_THREAD  1
#define RECORD_PLACE (UINT64_C(1) << 62) /* sums stand behind the blocks that they are of */

typedef struct nm_ascend_sample {
    int64_t ns, bytes;
    uint64_t place;
    uint64_t name; /* string of a module; 0: the device */
    int64_t device;
} sample;

typedef struct nm_ascend_step {
    int64_t ns, number;
} step;

nm_status nm_ascend_profiler_new(nm_ascend_profiler **out, nm_error *err)
{
    nm_ascend_profiler *profiler = calloc(1, sizeof *profiler);

    *out = profiler;
    if (profiler == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    profiler->pid = profiler->rank = NM_UNKNOWN_NUMBER;
    profiler->first_ns = profiler->spans_begin_ns = INT64_MAX;
    nm_status status = nm_gathered_new(&profiler->gathered, err);
    profiler->stacks.spans.gathered = profiler->stacks.chains.gathered = profiler->gathered;
    return status;
}

void nm_ascend_profiler_free(nm_ascend_profiler *profiler)
{
    if (profiler == NULL)
        return;
    for (size_t i = 0; i < profiler->pools.count; i++)
        nm_ascend_pool_fini(&profiler->pools.items[i]);
    free(profiler->pools.items);
    free(profiler->devices.items);
    free(profiler->threads.items);
    free(profiler->samples.items);
    free(profiler->steps.items);
    free(profiler->operators.items);
    nm_map_free(&profiler->pool_of);
    nm_map_free(&profiler->device_of);
    nm_map_free(&profiler->thread_of);
    nm_map_free(&profiler->pool_at);
    nm_ascend_stacks_free(&profiler->stacks);
    nm_gathered_free(profiler->gathered);
    free(profiler);
}

static nm_bytes text(const char *word)
{
    return (nm_bytes){(const uint8_t *)word, strlen(word)};
}

static bool is_word(nm_bytes bytes, const char *word)
{
    return bytes.len == strlen(word) && memcmp(bytes.data, word, bytes.len) == 0;
}

static void note_time(nm_ascend_profiler *profiler, int64_t ns)
{
    if (ns == NM_NO_TIME)
        return;
    profiler->first_ns = ns < profiler->first_ns ? ns : profiler->first_ns;
    profiler->last_ns = ns > profiler->last_ns ? ns : profiler->last_ns;
}

/* ---- Devices, threads, pools ---- */

static nm_status find_number(nm_map *map, int64_t **items, size_t *count, size_t *capacity, int64_t value,
                             uint64_t *index, nm_error *err)
{
    nm_status status = nm_array_grow(items, capacity, *count + 1, sizeof **items, err);

    if (status == NM_OK)
        status = nm_map_number(map, (nm_key){.low = (uint64_t)value}, index, err);
    if (status == NM_OK && *index == *count)
        (*items)[(*count)++] = value;
    return status;
}

static nm_status find_device(nm_ascend_profiler *profiler, int64_t ordinal, uint64_t *id, nm_error *err)
{
    nm_status status = find_number(&profiler->device_of, &profiler->devices.items, &profiler->devices.count,
                                   &profiler->devices.capacity, ordinal, id, err);

    ++*id;
    return status;
}

static nm_status find_thread(nm_ascend_profiler *profiler, int64_t tid, uint64_t *id, nm_error *err)
{
    nm_status status = find_number(&profiler->thread_of, &profiler->threads.items, &profiler->threads.count,
                                   &profiler->threads.capacity, tid, id, err);

    *id += MAIN_THREAD + 1;
    return status;
}

static nm_status find_pool(nm_ascend_profiler *profiler, nm_bytes component, int64_t device, nm_heap_level level,
                           size_t *index, nm_error *err)
{
    uint64_t name = 0, device_id = 0, number = 0;
    nm_status status = nm_gathered_string(profiler->gathered, component, &name, err);

    if (status == NM_OK)
        status = find_device(profiler, device, &device_id, err);
    if (status == NM_OK)
        status = nm_array_grow(&profiler->pools.items, &profiler->pools.capacity, profiler->pools.count + 1,
                               sizeof *profiler->pools.items, err);
    if (status == NM_OK)
        status =
            nm_map_number(&profiler->pool_of, (nm_key){name, device_id * (NM_LEVEL_MAX + 1) + level}, &number, err);
    *index = (size_t)number;
    if (status == NM_OK && number == profiler->pools.count) {
        profiler->pools.count++;
        profiler->pools.items[number] = (nm_ascend_pool){.heap_id = number + 1,
                                                         .name = name,
                                                         .device_id = device_id,
                                                         .level = level,
                                                         .is_pool = level != NM_LEVEL_DRIVER};
    }
    return status;
}

static nm_status define_heap(nm_ascend_profiler *profiler, const nm_ascend_pool *pool, nm_error *err)
{
    nm_definition define = {.kind = NM_DEFINE_HEAP, .id = pool->heap_id};

    define.heap.process_id = PROCESS;
    define.heap.device_id = pool->device_id;
    define.heap.level = pool->level;
    define.heap.name = pool->name;
    define.heap.size_basis = NM_BASIS_BLOCK;
    return nm_gathered_define(profiler->gathered, &define, err);
}

static nm_status define_device(nm_ascend_profiler *profiler, size_t index, uint64_t kind, nm_error *err)
{
    nm_definition define = {.kind = NM_DEFINE_DEVICE, .id = index + 1};

    define.device.process_id = PROCESS;
    define.device.ordinal = profiler->devices.items[index];
    define.device.physical_ordinal = NM_UNKNOWN_NUMBER;
    define.device.device_kind = kind;
    define.device.name = profiler->chip;
    return nm_gathered_define(profiler->gathered, &define, err);
}

static nm_status define_thread(nm_ascend_profiler *profiler, uint64_t id, int64_t tid, nm_error *err)
{
    nm_definition define = {.kind = NM_DEFINE_THREAD, .id = id};

    define.thread.process_id = PROCESS;
    define.thread.tid = tid;
    return nm_gathered_define(profiler->gathered, &define, err);
}

static nm_status define_process(nm_ascend_profiler *profiler, nm_error *err)
{
    nm_definition define = {.kind = NM_DEFINE_PROCESS, .id = PROCESS};

    define.process.pid = profiler->pid;
    define.process.host = profiler->host;
    define.process.rank = profiler->rank;
    define.process.local_rank = define.process.world_size = define.process.run_mode = NM_UNKNOWN_NUMBER;
    define.process.begin_ns = NM_NO_TIME;
    return nm_gathered_define(profiler->gathered, &define, err);
}

static nm_status define_all(nm_ascend_profiler *profiler, nm_error *err)
{
    uint64_t kind = 0;
    nm_status status = nm_gathered_string(profiler->gathered, text("npu"), &kind, err);

    if (status == NM_OK)
        status = define_process(profiler, err);
    if (status == NM_OK)
        status = define_thread(profiler, MAIN_THREAD, profiler->pid, err);
    for (size_t i = 0; i < profiler->threads.count && status == NM_OK; i++)
        status = define_thread(profiler, i + MAIN_THREAD + 1, profiler->threads.items[i], err);
    for (size_t i = 0; i < profiler->devices.count && status == NM_OK; i++)
        status = define_device(profiler, i, kind, err);
    for (size_t i = 0; i < profiler->pools.count && status == NM_OK; i++)
        status = define_heap(profiler, &profiler->pools.items[i], err);
    return status;
}

/* ---- Rows ---- */

/* What no such tool writes; of such a row nothing is believed. */
static bool is_odd(nm_ascend_profiler *profiler, int64_t ns, int64_t bytes)
{
    bool is_one = ns < 0 || ns > INT64_MAX / 2 || bytes < 0 || bytes > NM_ASCEND_BYTES_MAX;

    profiler->damaged_count += is_one;
    return is_one;
}

static int64_t known(int64_t bytes)
{
    return bytes >= 0 && bytes <= NM_ASCEND_BYTES_MAX ? bytes : NM_UNKNOWN_NUMBER;
}

nm_status nm_ascend_profiler_record(nm_ascend_profiler *profiler, nm_bytes component, int64_t device, int64_t ns,
                                    nm_ascend_sums sums, nm_error *err)
{
    bool is_process = is_word(component, "APP");
    nm_heap_level level = is_process                        ? NM_LEVEL_DRIVER
                          : is_word(component, "WORKSPACE") ? NM_LEVEL_WORKSPACE
                                                            : NM_LEVEL_POOL;
    nm_ascend_change change = {.ns = ns, .place = RECORD_PLACE + profiler->place++};
    size_t index = 0;
    nm_status status = NM_OK;

    change.allocated = known(is_process ? sums.reserved : sums.allocated);
    change.reserved = is_process ? NM_UNKNOWN_NUMBER : known(sums.reserved);
    if (component.len == 0 || is_odd(profiler, ns, change.allocated))
        return NM_OK;
    if (memchr(component.data, '+', component.len) != NULL)
        return NM_OK;
    status = find_pool(profiler, component, device, level, &index, err);
    if (status == NM_OK && !is_process)
        status = nm_map_put(&profiler->pool_at, (nm_key){(uint64_t)ns, (uint64_t)change.allocated}, index + 1, err);
    if (status != NM_OK)
        return status;
    note_time(profiler, ns);
    profiler->has_device |= is_process;
    profiler->has_record |= !is_process;
    profiler->has_reserved |= change.reserved != NM_UNKNOWN_NUMBER;
    profiler->pools.items[index].has_record = true;
    profiler->pools.items[index].is_rounded |= sums.is_rounded;
    return nm_ascend_pool_add(&profiler->pools.items[index], &change, err);
}

nm_status nm_ascend_profiler_operator(nm_ascend_profiler *profiler, const nm_ascend_operator *row, nm_error *err)
{
    bool is_timed = row->begin_ns != NM_NO_TIME || row->end_ns != NM_NO_TIME;
    nm_status status;

    if (row->bytes == 0)
        return NM_OK;
    if (!is_timed || is_odd(profiler, row->begin_ns == NM_NO_TIME ? 0 : row->begin_ns, row->bytes) ||
        is_odd(profiler, row->end_ns == NM_NO_TIME ? 0 : row->end_ns, 0)) {
        profiler->damaged_count += !is_timed;
        return NM_OK;
    }
    status = nm_array_grow(&profiler->operators.items, &profiler->operators.capacity, profiler->operators.count + 1,
                           sizeof *profiler->operators.items, err);
    if (status != NM_OK)
        return status;
    note_time(profiler, row->begin_ns);
    note_time(profiler, row->end_ns);
    profiler->has_operator = true;
    profiler->operators.items[profiler->operators.count++] = *row;
    return NM_OK;
}

/* A site of one frame: the operator. */
static nm_status name_stack(nm_ascend_profiler *profiler, uint64_t name, uint64_t *stack, nm_error *err)
{
    uint64_t frame = 0;
    nm_status status = name == 0 ? NM_OK : nm_gathered_frame(profiler->gathered, name, 0, 0, &frame, err);

    *stack = 0;
    return status == NM_OK && frame != 0 ? nm_gathered_stack(profiler->gathered, 0, frame, stack, err) : status;
}

nm_status nm_ascend_profiler_block(nm_ascend_profiler *profiler, const nm_ascend_block *row, nm_error *err)
{
    nm_ascend_change change = {.ns = row->ns,
                               .place = profiler->place++,
                               .kind = row->is_end ? NM_ASCEND_END : NM_ASCEND_BEGIN,
                               .is_of_block = true,
                               .bytes = row->bytes,
                               .address = row->address,
                               .allocated = known(row->after.allocated),
                               .reserved = known(row->after.reserved)};
    size_t index = 0;
    nm_status status;

    if (row->component.len == 0 || is_odd(profiler, row->ns, row->bytes))
        return NM_OK;
    if (memchr(row->component.data, '+', row->component.len) != NULL) /* the reserve is told of its parts */
        change.reserved = NM_UNKNOWN_NUMBER;
    status = find_pool(profiler, row->component, row->device, NM_LEVEL_POOL, &index, err);
    if (status == NM_OK && row->tid != NM_UNKNOWN_NUMBER)
        status = find_thread(profiler, row->tid, &change.thread_id, err);
    if (status == NM_OK)
        status = name_stack(profiler, row->name, &change.stack_id, err);
    if (status != NM_OK)
        return status;
    note_time(profiler, row->ns);
    profiler->has_address = true;
    profiler->has_reserved |= change.reserved != NM_UNKNOWN_NUMBER;
    profiler->pools.items[index].has_blocks = true;
    return nm_ascend_pool_add(&profiler->pools.items[index], &change, err);
}

static nm_status add_sample(nm_ascend_profiler *profiler, uint64_t name, int64_t device, int64_t ns, int64_t bytes,
                            nm_error *err)
{
    sample row = {ns, bytes, profiler->place++, name, device};
    nm_status status;

    if (is_odd(profiler, ns, bytes))
        return NM_OK;
    status = nm_array_grow(&profiler->samples.items, &profiler->samples.capacity, profiler->samples.count + 1,
                           sizeof *profiler->samples.items, err);
    if (status != NM_OK)
        return status;
    note_time(profiler, ns);
    profiler->has_device = true;
    profiler->samples.items[profiler->samples.count++] = row;
    return NM_OK;
}

nm_status nm_ascend_profiler_module(nm_ascend_profiler *profiler, nm_bytes name, int64_t device, int64_t ns,
                                    int64_t bytes, nm_error *err)
{
    uint64_t id = 0;
    nm_status status = nm_gathered_string(profiler->gathered, name, &id, err);

    if (status == NM_OK && id == 0)
        profiler->damaged_count++;
    return status == NM_OK && id != 0 ? add_sample(profiler, id, device, ns, bytes, err) : status;
}

nm_status nm_ascend_profiler_device(nm_ascend_profiler *profiler, int64_t device, int64_t ns, int64_t bytes,
                                    nm_error *err)
{
    return add_sample(profiler, 0, device, ns, bytes, err);
}

nm_status nm_ascend_profiler_call(nm_ascend_profiler *profiler, int64_t tid, int64_t begin_ns, int64_t end_ns,
                                  nm_bytes name, int64_t chain, nm_error *err)
{
    uint64_t thread = 0;
    nm_status status = NM_OK;

    if (name.len == 0 || end_ns < begin_ns || is_odd(profiler, begin_ns, 0))
        return NM_OK;
    status = find_thread(profiler, tid, &thread, err);
    return status == NM_OK
               ? nm_ascend_stacks_call(&profiler->stacks, (uint32_t)thread, begin_ns, end_ns, name, chain, err)
               : status;
}

static nm_status add_step(nm_ascend_profiler *profiler, int64_t number, int64_t ns, nm_error *err)
{
    nm_status status = nm_array_grow(&profiler->steps.items, &profiler->steps.capacity, profiler->steps.count + 1,
                                     sizeof *profiler->steps.items, err);

    if (status == NM_OK)
        profiler->steps.items[profiler->steps.count++] = (step){ns, number};
    return status;
}

nm_status nm_ascend_profiler_step(nm_ascend_profiler *profiler, int64_t number, int64_t ns, nm_error *err)
{
    if (is_odd(profiler, ns, 0))
        return NM_OK;
    note_time(profiler, ns);
    return add_step(profiler, number, ns, err);
}

nm_status nm_ascend_profiler_span(nm_ascend_profiler *profiler, int64_t number, int64_t ns, int64_t duration_ns,
                                  nm_error *err)
{
    int64_t end_ns = ns;

    if (is_odd(profiler, ns, 0))
        return NM_OK;
    if (duration_ns > 0 && __builtin_add_overflow(ns, duration_ns, &end_ns))
        end_ns = INT64_MAX;
    profiler->spans_begin_ns = ns < profiler->spans_begin_ns ? ns : profiler->spans_begin_ns;
    profiler->spans_end_ns = end_ns > profiler->spans_end_ns ? end_ns : profiler->spans_end_ns;
    return add_step(profiler, number, ns, err);
}

nm_status nm_ascend_profiler_environment(nm_ascend_profiler *profiler, nm_bytes name, nm_bytes value, nm_error *err)
{
    nm_definition define = {.kind = NM_DEFINE_ATTRIBUTE};
    nm_status status = nm_gathered_string(profiler->gathered, name, &define.attribute.name, err);

    define.attribute.process_id = PROCESS;
    define.attribute.source = NM_ATTRIBUTE_ENVIRONMENT;
    if (status == NM_OK)
        status = nm_gathered_string(profiler->gathered, value, &define.attribute.value, err);
    return status == NM_OK && define.attribute.name != 0 && define.attribute.value != 0
               ? nm_gathered_define(profiler->gathered, &define, err)
               : status;
}

/* ---- When all is there ---- */

/* Which pool the operator is of; a record of the same time and sum says it. Where a record's times say nothing, what operators hold is
 * told beside it. */
static nm_status pool_of_operator(nm_ascend_profiler *profiler, const nm_ascend_operator *row, size_t *index,
                                  nm_error *err)
{
    bool has_begin = row->begin_ns != NM_NO_TIME;
    int64_t ns = has_begin ? row->begin_ns : row->end_ns;
    int64_t allocated = has_begin ? row->at_begin.allocated : row->at_end.allocated;
    const uint64_t *told = nm_map_get(&profiler->pool_at, (nm_key){(uint64_t)ns, (uint64_t)allocated});

    nm_bytes component = text(row->is_graph ? "GE" : "PTA");
    nm_status status = NM_OK;

    if (told != NULL)
        *index = (size_t)*told - 1;
    else
        status = find_pool(profiler, component, row->device, NM_LEVEL_POOL, index, err);
    bool is_beside = status == NM_OK && told == NULL && profiler->pools.items[*index].is_rounded;
    if (is_beside)
        status = find_pool(profiler, text(row->is_graph ? "GE operator_memory" : "PTA operator_memory"), row->device,
                           NM_LEVEL_POOL, index, err);
    if (status == NM_OK) {
        profiler->pools.items[*index].is_beside |= is_beside;
        profiler->pools.items[*index].placed_count++;
        profiler->pools.items[*index].matched_count += told != NULL;
    }
    return status;
}

static void take_stack(void *context, uint64_t number, uint64_t stack)
{
    ((nm_ascend_profiler *)context)->operators.items[number].stack_id = stack;
}

/* Where calls are told. Those of GE are made by a thread of their own, which knows no caller. */
static nm_status find_stacks(nm_ascend_profiler *profiler, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; profiler->stacks.calls.count > 0 && i < profiler->operators.count && status == NM_OK; i++) {
        const nm_ascend_operator *row = &profiler->operators.items[i];

        if (row->begin_ns != NM_NO_TIME && row->name != 0)
            status = nm_ascend_stacks_ask(&profiler->stacks, row->name, row->begin_ns, i, err);
    }
    return status == NM_OK ? nm_ascend_stacks_answer(&profiler->stacks, take_stack, profiler, err) : status;
}

/* What a row says of its pool's sums counts where no record tells them. */
static nm_status place_operator(nm_ascend_profiler *profiler, const nm_ascend_operator *row, nm_error *err)
{
    nm_ascend_change begin = {.bytes = row->bytes, .kind = NM_ASCEND_BEGIN, .ns = row->begin_ns, .is_of_block = true};
    size_t index = 0;
    nm_status status = pool_of_operator(profiler, row, &index, err);

    if (status == NM_OK && profiler->pools.items[index].has_blocks)
        return NM_OK;
    begin.stack_id = row->stack_id;
    if (status == NM_OK && begin.stack_id == 0)
        status = name_stack(profiler, row->name, &begin.stack_id, err);
    begin.address = nm_ascend_pool_address(&profiler->next_address, row->bytes);
    nm_ascend_change end = begin, point = {.ns = row->at_end_ns, .is_of_block = true};
    begin.place = profiler->place++;
    begin.allocated = known(row->at_begin.allocated);
    begin.reserved = profiler->pools.items[index].is_beside ? NM_UNKNOWN_NUMBER : known(row->at_begin.reserved);
    end.kind = NM_ASCEND_END;
    end.ns = row->end_ns < row->begin_ns ? row->begin_ns : row->end_ns;
    end.place = profiler->place++;
    end.allocated = end.reserved = NM_UNKNOWN_NUMBER;
    point.place = profiler->place++;
    point.allocated = known(row->at_end.allocated);
    point.reserved = profiler->pools.items[index].is_beside ? NM_UNKNOWN_NUMBER : known(row->at_end.reserved);
    profiler->has_reserved |= begin.reserved != NM_UNKNOWN_NUMBER;
    if (status == NM_OK && row->begin_ns != NM_NO_TIME)
        status = nm_ascend_pool_add(&profiler->pools.items[index], &begin, err);
    if (status == NM_OK && row->end_ns != NM_NO_TIME)
        status = nm_ascend_pool_add(&profiler->pools.items[index], &end, err);
    return status == NM_OK && point.ns != NM_NO_TIME && point.allocated != NM_UNKNOWN_NUMBER
               ? nm_ascend_pool_add(&profiler->pools.items[index], &point, err)
               : status;
}

/* A record of another part of the run does not tell of the blocks: they tell it themselves. */
static void judge_records(nm_ascend_profiler *profiler)
{
    for (size_t i = 0; i < profiler->pools.count; i++) {
        nm_ascend_pool *pool = &profiler->pools.items[i];

        pool->has_record &= 2 * pool->matched_count >= pool->placed_count;
    }
}

static int compare_samples(const void *left, const void *right)
{
    const sample *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static nm_status give_sample(nm_ascend_profiler *profiler, const sample *row, uint64_t peak_bytes, nm_error *err)
{
    nm_event event = {.kind = row->name != 0 ? NM_EVENT_MODULE_SAMPLE : NM_EVENT_MEMORY_SAMPLE,
                      .time_ns = row->ns - profiler->first_ns,
                      .thread_id = MAIN_THREAD,
                      .name_id = row->name,
                      .detail = row->name != 0 ? 0 : NM_MEMORY_HBM,
                      .size_bytes = (uint64_t)row->bytes,
                      .total_bytes = peak_bytes};
    nm_status status = find_device(profiler, row->device, &event.device_id, err);

    return status == NM_OK ? nm_gathered_event(profiler->gathered, row->ns, &event, err) : status;
}

/* Most of some 70 modules hold nothing, ever: of those nothing is told. */
static nm_status give_samples(nm_ascend_profiler *profiler, nm_error *err)
{
    nm_map peaks = {0};
    nm_status status = NM_OK;

    if (profiler->samples.count > 0)
        qsort(profiler->samples.items, profiler->samples.count, sizeof *profiler->samples.items, compare_samples);
    for (size_t i = 0; i < profiler->samples.count && status == NM_OK; i++) {
        const sample *row = &profiler->samples.items[i];
        nm_key key = {row->name, (uint64_t)row->device};
        const uint64_t *peak = nm_map_get(&peaks, key);
        uint64_t most = peak != NULL && *peak > (uint64_t)row->bytes ? *peak : (uint64_t)row->bytes;

        if (row->name != 0 && most > 0)
            status = nm_map_put(&peaks, key, most, err);
        if (status == NM_OK && (row->name == 0 || most > 0))
            status = give_sample(profiler, row, row->name == 0 ? 0 : most, err);
    }
    nm_map_free(&peaks);
    return status;
}

/* Steps of another clock would be of no event that the tables tell. */
static nm_status judge_spans(nm_ascend_profiler *profiler, nm_error *err)
{
    static const char part[] = "steps of trace_view.json: outside the tables' times";
    bool is_outside = profiler->spans_end_ns < profiler->first_ns || profiler->spans_begin_ns > profiler->last_ns;
    nm_event event = {.kind = NM_EVENT_NOTE,
                      .time_ns = NM_NO_TIME,
                      .thread_id = MAIN_THREAD,
                      .detail = NM_NOTE_UNREAD_PART,
                      .number = 1};
    nm_status status;

    if (profiler->spans_begin_ns == INT64_MAX || !is_outside) {
        note_time(profiler, profiler->spans_begin_ns == INT64_MAX ? NM_NO_TIME : profiler->spans_begin_ns);
        return NM_OK;
    }
    profiler->steps.count = 0;
    status = nm_gathered_string(profiler->gathered, text(part), &event.name_id, err);
    return status == NM_OK ? nm_gathered_event(profiler->gathered, INT64_MIN, &event, err) : status;
}

static nm_status give_steps(nm_ascend_profiler *profiler, nm_error *err)
{
    nm_status status = judge_spans(profiler, err);

    for (size_t i = 0; i < profiler->steps.count && status == NM_OK; i++) {
        const step *row = &profiler->steps.items[i];
        nm_event event = {.kind = NM_EVENT_STEP,
                          .time_ns = row->ns - profiler->first_ns,
                          .thread_id = MAIN_THREAD,
                          .number = row->number};

        status = nm_gathered_event(profiler->gathered, row->ns, &event, err);
    }
    return status;
}

nm_status nm_ascend_profiler_finish(nm_ascend_profiler *profiler, nm_error *err)
{
    nm_status status = NM_OK;

    if (!profiler->has_record && !profiler->has_operator && !profiler->has_address && !profiler->has_device)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "%s",
                       nm_spoken(profiler->is_beside
                                     ? "this table of the Ascend PyTorch Profiler does not say what was held: give the "
                                       "folder that it is in"
                                     : NM_ASCEND_PROFILER_NO_MEMORY));
    status = find_stacks(profiler, err);
    for (size_t i = 0; i < profiler->operators.count && status == NM_OK; i++)
        status = place_operator(profiler, &profiler->operators.items[i], err);
    judge_records(profiler);
    if (status == NM_OK)
        status = give_steps(profiler, err);
    if (status == NM_OK)
        status = give_samples(profiler, err);
    for (size_t i = 0; i < profiler->pools.count && status == NM_OK; i++)
        status = nm_ascend_pool_give(&profiler->pools.items[i], profiler->first_ns, &profiler->next_address,
                                     profiler->gathered, err);
    if (status == NM_OK)
        status = define_all(profiler, err);
    for (size_t i = 0; i < profiler->pools.count; i++)
        profiler->uncertain_count += profiler->pools.items[i].unmatched_count;
    nm_gathered_sort(profiler->gathered);
    return status;
}

/* Is a pool only known by its sums? */
static bool has_bare_pool(const nm_ascend_profiler *profiler)
{
    for (size_t i = 0; i < profiler->pools.count; i++)
        if (profiler->pools.items[i].is_pool && !profiler->pools.items[i].has_blocks)
            return true;
    return false;
}

nm_carries nm_ascend_profiler_carries(const nm_ascend_profiler *profiler)
{
    nm_carries carries = {0};
    bool is_part = profiler->has_operator || (profiler->has_address && has_bare_pool(profiler));

    carries.leak = is_part ? NM_GRADE_ESTIMATE : profiler->has_address ? NM_GRADE_EXACT : NM_GRADE_NONE;
    carries.peak = is_part                                             ? NM_GRADE_ESTIMATE
                   : profiler->has_address                             ? NM_GRADE_EXACT
                   : profiler->has_record || profiler->pools.count > 0 ? NM_GRADE_CURVE
                                                                       : NM_GRADE_NONE;
    carries.fragmentation = profiler->has_reserved ? NM_GRADE_CURVE : NM_GRADE_NONE;
    carries.hits = profiler->has_reserved ? NM_GRADE_ESTIMATE : NM_GRADE_NONE;
    carries.device = profiler->has_device ? NM_GRADE_EXACT : NM_GRADE_NONE;
    return carries;
}
