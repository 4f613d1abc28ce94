/* SPDX-License-Identifier: Apache-2.0
 *
 * The source for traces of torch.profiler with events of memory. The file is read twice while it is opened: first for the events
 * of memory, steps, and where it ran; then for the spans around these events, which give their stacks. So memory follows
 * the events of memory, and not the size of the file. What is delivered is made of the first list, in the order of its times.
 *
 * An event states what its pool had handed out and held behind it. Less the sum of what was seen that is what was there before: what
 * is freed without having been seen is a block of it, the rest one block at address 0. Where that difference is not the same
 * everywhere, something was not seen (a thread that was not profiled): a note says so, and nothing of it is exact.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/spoken.h"
#include "source/kineto_reader.h"
#include "source/kineto_spans.h"
#include "source/source.h"

#define DEVICE_CPU         0 /* as c10::DeviceType counts */
#define DEVICE_CUDA        1
#define DEVICE_HIP         6
#define DEVICE_XPU         12
#define DEVICE_PRIVATEUSE  20
#define HEAPS_MAX          UINT16_MAX
#define ERROR_OOM_NPU      207001     /* ACL_ERROR_RT_MEMORY_ALLOCATION */
#define ERROR_OOM_GPU      2          /* cudaErrorMemoryAllocation */
#define SEGMENT_BYTES      (20 << 20) /* of a pool for blocks of up to 10 MiB; larger ones are rounded up to the next: */
#define SEGMENT_STEP_BYTES (2 << 20)
#define YEAR_2000_NS       INT64_C(946684800000000000)

typedef struct memory_event {
    int64_t time_ns;
    uint64_t address;
    int64_t bytes;                           /* of an allocation, or of what failed; of a free: less than 0 */
    int64_t allocated_bytes, reserved_bytes; /* as stated; or NM_UNKNOWN_NUMBER */
    uint32_t stack, thread;                  /* thread: index */
    uint32_t place;                          /* in the file */
    uint16_t heap;                           /* index */
    uint8_t kind;                            /* nm_event_kind */
    bool is_odd;                             /* before it something happened that was not seen */
} memory_event;

typedef struct kineto_heap {
    uint64_t process; /* number */
    int64_t type, ordinal;
    int64_t sum_bytes;      /* of what was seen so far */
    int64_t before_bytes;   /* stated less seen, so far; or NM_UNKNOWN_NUMBER */
    int64_t baseline_bytes; /* the first of these, less what is known of it block by block */
    uint64_t odd_count;     /* events that contradict what was seen */
    int64_t reserved_bytes; /* as the event before stated */
    int64_t said_bytes;     /* as delivered */
} kineto_heap;

typedef struct kineto_thread {
    uint64_t process; /* number */
    int64_t tid;
    size_t first, count; /* of `order` */
} kineto_thread;

typedef struct kineto_step {
    int64_t time_ns, number, pid, tid;
} kineto_step;

typedef struct kineto_source {
    nm_source base;
    nm_input *input;
    nm_gathered *gathered; /* all but events of memory */
    nm_kineto_reader reader;
    uint64_t checksum, read_bytes; /* of what the file holds */
    struct {
        memory_event *items;
        size_t count, capacity;
    } events;
    struct {
        kineto_heap *items;
        size_t count, capacity;
    } heaps;
    struct {
        kineto_thread *items;
        size_t count, capacity;
    } threads;
    struct {
        kineto_step *items;
        size_t count, capacity;
    } steps;
    struct {
        int64_t *items; /* pid */
        size_t count, capacity;
    } processes;
    nm_map process_of, thread_of, device_of, heap_of; /* pid; (process, tid); (type, ordinal); (process, device) */
    uint32_t *order;                                  /* indexes of events by thread, in the order of times */
    uint64_t unread_count;                            /* events of memory that lack something */
    int64_t begin_ns;
    uint64_t odd_count;
    bool has_allocated, has_reserved; /* stated, by each event of a device */

    nm_record waiting; /* of `gathered` */
    bool has_waiting, is_loss_said;
    size_t at; /* the next event */
    uint64_t seq;
} kineto_source;

/* ---- The first reading: events of memory ---- */

static bool is_32_bits(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

static nm_status number_process(kineto_source *source, int64_t pid, uint64_t *process, nm_error *err)
{
    nm_status status = nm_array_grow(&source->processes.items, &source->processes.capacity, source->processes.count + 1,
                                     sizeof *source->processes.items, err);

    if (status == NM_OK)
        status = nm_map_number(&source->process_of, (nm_key){0, (uint64_t)pid}, process, err);
    if (status == NM_OK && *process == source->processes.count)
        source->processes.items[source->processes.count++] = pid;
    *process += 1;
    return status;
}

static nm_status number_thread(kineto_source *source, uint64_t process, int64_t tid, uint32_t *thread, nm_error *err)
{
    uint64_t number = 0;
    nm_status status = nm_array_grow(&source->threads.items, &source->threads.capacity, source->threads.count + 1,
                                     sizeof *source->threads.items, err);

    if (status == NM_OK)
        status = nm_map_number(&source->thread_of, (nm_key){process, (uint64_t)tid}, &number, err);
    if (status == NM_OK && number == source->threads.count)
        source->threads.items[source->threads.count++] = (kineto_thread){.process = process, .tid = tid};
    *thread = (uint32_t)number;
    return status;
}

static nm_status number_heap(kineto_source *source, uint64_t process, const nm_kineto_entry *entry, uint16_t *heap,
                             nm_error *err)
{
    uint64_t device = 0, number = 0;
    nm_status status = nm_array_grow(&source->heaps.items, &source->heaps.capacity, source->heaps.count + 1,
                                     sizeof *source->heaps.items, err);

    if (status == NM_OK)
        status = nm_map_number(&source->device_of, (nm_key){(uint64_t)entry->device_type, (uint64_t)entry->device_id},
                               &device, err);
    if (status == NM_OK)
        status = nm_map_number(&source->heap_of, (nm_key){process, device}, &number, err);
    if (status == NM_OK && number >= HEAPS_MAX)
        status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than %d devices", HEAPS_MAX);
    if (status == NM_OK && number == source->heaps.count)
        source->heaps.items[source->heaps.count++] = (kineto_heap){.process = process,
                                                                   .type = entry->device_type,
                                                                   .ordinal = entry->device_id,
                                                                   .before_bytes = NM_UNKNOWN_NUMBER,
                                                                   .reserved_bytes = NM_UNKNOWN_NUMBER,
                                                                   .said_bytes = NM_UNKNOWN_NUMBER};
    *heap = (uint16_t)number;
    return status;
}

/* Is all there that makes it an event? A failure has no address. */
static bool is_whole(const nm_kineto_entry *entry, bool is_failure)
{
    return entry->pid != NM_UNKNOWN_NUMBER && entry->tid != NM_UNKNOWN_NUMBER && entry->time_ns != NM_UNKNOWN_NUMBER &&
           entry->bytes != NM_UNKNOWN_NUMBER && (is_failure ? entry->bytes >= 0 : entry->bytes != 0) &&
           (is_failure || (entry->address != NM_UNKNOWN_NUMBER && entry->address != 0)) &&
           is_32_bits(entry->device_type) && is_32_bits(entry->device_id);
}

static nm_status take_memory(kineto_source *source, const nm_kineto_entry *entry, bool is_failure, nm_error *err)
{
    memory_event event = {
        .time_ns = entry->time_ns,
        .address = is_failure ? 0 : (uint64_t)entry->address,
        .bytes = entry->bytes,
        .allocated_bytes = entry->allocated_bytes,
        .reserved_bytes = entry->reserved_bytes,
        .place = (uint32_t)source->events.count,
        .kind = is_failure         ? NM_EVENT_ALLOC_FAILED
                : entry->bytes > 0 ? NM_EVENT_ALLOC
                                   : NM_EVENT_FREE,
    };
    uint64_t process = 0;

    if (!is_whole(entry, is_failure)) {
        source->unread_count++;
        return NM_OK;
    }
    nm_status status = number_process(source, entry->pid, &process, err);
    if (status == NM_OK)
        status = number_thread(source, process, entry->tid, &event.thread, err);
    if (status == NM_OK)
        status = number_heap(source, process, entry, &event.heap, err);
    if (status == NM_OK && (source->events.count >= UINT32_MAX || source->threads.count >= UINT32_MAX))
        status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than %u events of memory", UINT32_MAX);
    if (status == NM_OK)
        status =
            nm_array_grow(&source->events.items, &source->events.capacity, source->events.count + 1, sizeof event, err);
    if (status == NM_OK)
        source->events.items[source->events.count++] = event;
    return status;
}

/* "ProfilerStep#7". */
static bool is_step(const nm_kineto_entry *entry, int64_t *number)
{
    static const char begin[] = "ProfilerStep#";
    char digits[20] = "";
    size_t len = entry->name.len - (sizeof begin - 1);

    if (entry->phase != 'X' || entry->time_ns == NM_UNKNOWN_NUMBER || entry->name.len < sizeof begin ||
        memcmp(entry->name.data, begin, sizeof begin - 1) != 0 || len >= sizeof digits)
        return false;
    memcpy(digits, entry->name.data + sizeof begin - 1, len);
    if (strspn(digits, "0123456789") != len)
        return false;
    *number = strtoll(digits, NULL, 10);
    return true;
}

static nm_status take_entry(kineto_source *source, const nm_kineto_entry *entry, nm_error *err)
{
    bool is_instant = entry->phase == 'i' || entry->phase == 'I';
    int64_t number;

    if (is_instant && nm_json_is(entry->name, "[memory]"))
        return take_memory(source, entry, false, err);
    if (is_instant && nm_json_is(entry->name, "[OutOfMemory]"))
        return take_memory(source, entry, true, err);
    if (!is_step(entry, &number))
        return NM_OK;
    nm_status status =
        nm_array_grow(&source->steps.items, &source->steps.capacity, source->steps.count + 1, sizeof(kineto_step), err);
    if (status == NM_OK)
        source->steps.items[source->steps.count++] = (kineto_step){entry->time_ns, number, entry->pid, entry->tid};
    return status;
}

static nm_status say_no_events(const kineto_source *source, nm_error *err)
{
    const char *text =
        !source->reader.is_torch   ? nm_spoken("this is a trace in Chrome's form, which holds no [memory] events")
        : source->unread_count > 0 ? nm_spoken("the [memory] events of this trace of torch.profiler have no addresses: "
                                               "profile with a newer torch")
                                   : nm_spoken("this trace of torch.profiler holds no [memory] events: "
                                               "profile with profile_memory=True");

    return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "%s", text);
}

static int compare_events(const void *left, const void *right)
{
    const memory_event *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static nm_status read_memory(kineto_source *source, nm_error *err)
{
    nm_kineto_entry entry;
    nm_status status = nm_kineto_reader_begin(&source->reader, true, err);

    while (status == NM_OK && (status = nm_kineto_next(&source->reader, &entry, err)) == NM_OK)
        status = take_entry(source, &entry, err);
    if (status != NM_END)
        return status;
    if (source->events.count == 0)
        return say_no_events(source, err);
    source->checksum = nm_checksum_end(&source->reader.sum);
    source->read_bytes = source->reader.sum.len;
    qsort(source->events.items, source->events.count, sizeof *source->events.items, compare_events);
    source->begin_ns = source->events.items[0].time_ns;
    return NM_OK;
}

/* ---- The second: spans around them ---- */

/* Events by thread. */
static nm_status order_events(kineto_source *source, nm_error *err)
{
    size_t first = 0;

    source->order = calloc(source->events.count, sizeof *source->order);
    if (source->order == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < source->events.count; i++)
        source->threads.items[source->events.items[i].thread].count++;
    for (size_t i = 0; i < source->threads.count; i++) {
        source->threads.items[i].first = first;
        first += source->threads.items[i].count;
        source->threads.items[i].count = 0;
    }
    for (size_t i = 0; i < source->events.count; i++) {
        kineto_thread *thread = &source->threads.items[source->events.items[i].thread];

        source->order[thread->first + thread->count++] = (uint32_t)i;
    }
    return NM_OK;
}

/* Is there an event of memory in it? */
static bool is_around(const kineto_source *source, const kineto_thread *thread, int64_t begin_ns, int64_t end_ns)
{
    size_t low = 0, high = thread->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t time_ns = source->events.items[source->order[thread->first + middle]].time_ns;

        if (time_ns < begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < thread->count && source->events.items[source->order[thread->first + low]].time_ns <= end_ns;
}

static nm_status take_span(kineto_source *source, const nm_kineto_entry *entry, nm_kineto_spans *spans, nm_error *err)
{
    if (entry->phase != 'X' || entry->time_ns == NM_UNKNOWN_NUMBER || entry->duration_ns < 0 ||
        (entry->category != NM_KINETO_OPERATOR && entry->category != NM_KINETO_PYTHON))
        return NM_OK;
    const uint64_t *process = nm_map_get(&source->process_of, (nm_key){0, (uint64_t)entry->pid});
    const uint64_t *thread =
        process == NULL ? NULL : nm_map_get(&source->thread_of, (nm_key){*process + 1, (uint64_t)entry->tid});
    int64_t end_ns = entry->time_ns + entry->duration_ns;

    return thread != NULL && is_around(source, &source->threads.items[*thread], entry->time_ns, end_ns)
               ? nm_kineto_spans_add(spans, (uint32_t)*thread, entry->time_ns, end_ns, entry->name, err)
               : NM_OK;
}

static nm_status set_stacks(kineto_source *source, nm_kineto_spans *spans, nm_error *err)
{
    nm_status status = NM_OK;

    nm_kineto_spans_sort(spans);
    for (size_t i = 0; i < source->events.count && status == NM_OK; i++) {
        memory_event *event = &source->events.items[source->order[i]];
        uint64_t stack = 0;

        status = nm_kineto_spans_stack(spans, event->thread, event->time_ns, &stack, err);
        event->stack = stack <= UINT32_MAX ? (uint32_t)stack : 0;
    }
    return status;
}

static nm_status read_spans(kineto_source *source, nm_error *err)
{
    nm_kineto_spans *spans = calloc(1, sizeof *spans);
    nm_kineto_entry entry;
    nm_status status =
        spans != NULL ? order_events(source, err) : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");

    if (status == NM_OK)
        status = nm_kineto_reader_begin(&source->reader, false, err);
    if (status == NM_OK)
        spans->gathered = source->gathered;
    while (status == NM_OK && (status = nm_kineto_next(&source->reader, &entry, err)) == NM_OK)
        status = take_span(source, &entry, spans, err);
    if (status == NM_END)
        status = set_stacks(source, spans, err);
    if (spans != NULL)
        nm_kineto_spans_free(spans);
    free(spans);
    free(source->order);
    source->order = NULL;
    return status;
}

/* ---- What was there before ---- */

static int64_t plus(int64_t a, int64_t b) /* wraps: sums of a file's numbers may be any */
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* A pool's is the number of a private pool, of which nothing is told. */
static uint64_t policy_of(const kineto_heap *heap)
{
    return heap->type == DEVICE_CPU ? NM_POLICY_UNKNOWN : 0;
}

static nm_status add_baseline(kineto_source *source, uint16_t heap, uint64_t address, int64_t bytes, nm_error *err)
{
    nm_event event = {
        .kind = NM_EVENT_ALLOC,
        .time_ns = NM_NO_TIME,
        .flags = NM_FLAG_BASELINE,
        .heap_id = (uint64_t)heap + 1,
        .address = address,
        .block_bytes = (uint64_t)bytes,
        .policy = policy_of(&source->heaps.items[heap]),
    };

    return nm_gathered_event(source->gathered, 0, &event, err);
}

/* `live`: (heap, address) -> bytes of what is there, 0 when it is gone. Sets is_odd where something before was not seen. */
static nm_status pair_event(kineto_source *source, memory_event *event, nm_map *live, nm_error *err)
{
    nm_key key = {event->heap, event->address};
    const uint64_t *known = nm_map_get(live, key);
    nm_status status = NM_OK;

    if (event->kind == NM_EVENT_ALLOC) {
        event->is_odd = known != NULL && *known != 0;
        return nm_map_put(live, key, (uint64_t)event->bytes, err);
    }
    if (known == NULL) {
        kineto_heap *heap = &source->heaps.items[event->heap];

        heap->baseline_bytes = plus(heap->baseline_bytes, event->bytes);
        status = add_baseline(source, event->heap, event->address, -event->bytes, err);
    } else {
        event->is_odd = *known != (uint64_t)-event->bytes;
    }
    return status == NM_OK ? nm_map_put(live, key, 0, err) : status;
}

/* Is what the event states what was there before and all that was seen? */
static void compare_stated(kineto_heap *heap, memory_event *event)
{
    heap->sum_bytes = plus(heap->sum_bytes, event->bytes);
    if (event->allocated_bytes != NM_UNKNOWN_NUMBER) {
        int64_t before_bytes = minus(event->allocated_bytes, heap->sum_bytes);

        if (heap->before_bytes == NM_UNKNOWN_NUMBER)
            heap->baseline_bytes = plus(heap->baseline_bytes, before_bytes);
        else
            event->is_odd |= before_bytes != heap->before_bytes;
        heap->before_bytes = before_bytes;
    }
    heap->odd_count += event->is_odd;
}

static nm_status find_baseline(kineto_source *source, nm_error *err)
{
    nm_map live = {0};
    nm_status status = NM_OK;

    source->has_allocated = source->has_reserved = true;
    for (size_t i = 0; i < source->events.count && status == NM_OK; i++) {
        memory_event *event = &source->events.items[i];
        kineto_heap *heap = &source->heaps.items[event->heap];

        if (event->kind == NM_EVENT_ALLOC_FAILED)
            continue;
        source->has_allocated = source->has_allocated && event->allocated_bytes != NM_UNKNOWN_NUMBER;
        source->has_reserved =
            source->has_reserved && (heap->type == DEVICE_CPU || event->reserved_bytes != NM_UNKNOWN_NUMBER);
        status = pair_event(source, event, &live, err);
        compare_stated(heap, event);
    }
    nm_map_free(&live);
    for (size_t i = 0; i < source->heaps.count && status == NM_OK; i++) {
        kineto_heap *heap = &source->heaps.items[i];

        heap->odd_count += heap->baseline_bytes < 0 && heap->before_bytes != NM_UNKNOWN_NUMBER;
        source->odd_count += heap->odd_count;
        if (heap->baseline_bytes > 0)
            status = add_baseline(source, (uint16_t)i, 0, heap->baseline_bytes, err);
    }
    return status;
}

/* ---- What is delivered with them ---- */

static nm_status intern(kineto_source *source, const char *text, uint64_t *number, nm_error *err)
{
    return nm_gathered_string(source->gathered, (nm_bytes){(const uint8_t *)text, strlen(text)}, number, err);
}

static const char *name_of(const kineto_heap *heap)
{
    return heap->type == DEVICE_CPU ? "host memory" : "caching pool";
}

static nm_status define_programs(kineto_source *source, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < source->processes.count && status == NM_OK; i++) {
        nm_definition process = {.kind = NM_DEFINE_PROCESS, .id = i + 1};

        process.process.pid = source->processes.items[i];
        process.process.rank = source->reader.rank;
        process.process.local_rank = NM_UNKNOWN_NUMBER;
        process.process.world_size = source->reader.world_size;
        process.process.run_mode = NM_UNKNOWN_NUMBER;
        process.process.begin_ns = NM_NO_TIME;
        status = nm_gathered_define(source->gathered, &process, err);
    }
    for (size_t i = 0; i < source->threads.count && status == NM_OK; i++) {
        nm_definition thread = {.kind = NM_DEFINE_THREAD, .id = i + 1};

        thread.thread.process_id = source->threads.items[i].process;
        thread.thread.tid = source->threads.items[i].tid;
        status = nm_gathered_define(source->gathered, &thread, err);
    }
    return status;
}

static const char *kind_of_device(int64_t type)
{
    return type == DEVICE_CUDA || type == DEVICE_HIP ? "gpu"
           : type == DEVICE_PRIVATEUSE               ? "npu"
           : type == DEVICE_XPU                      ? "xpu"
                                                     : "device";
}

static nm_status define_device(kineto_source *source, size_t heap, nm_error *err)
{
    nm_definition device = {.kind = NM_DEFINE_DEVICE, .id = heap + 1};
    nm_status status = intern(source, kind_of_device(source->heaps.items[heap].type), &device.device.device_kind, err);

    device.device.process_id = source->heaps.items[heap].process;
    device.device.ordinal = source->heaps.items[heap].ordinal;
    device.device.physical_ordinal = NM_UNKNOWN_NUMBER;
    for (size_t i = 0; i < source->reader.devices.count; i++)
        if (source->reader.devices.items[i].id == device.device.ordinal) {
            device.device.name = source->reader.devices.items[i].name;
            device.device.capacity_bytes = source->reader.devices.items[i].capacity_bytes;
        }
    return status == NM_OK ? nm_gathered_define(source->gathered, &device, err) : status;
}

/* Of each heap one, but of host memory no device. */
static nm_status define_heaps(kineto_source *source, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < source->heaps.count && status == NM_OK; i++)
        if (source->heaps.items[i].type != DEVICE_CPU)
            status = define_device(source, i, err);
    for (size_t i = 0; i < source->heaps.count && status == NM_OK; i++) {
        bool is_host = source->heaps.items[i].type == DEVICE_CPU;
        nm_definition heap = {.kind = NM_DEFINE_HEAP, .id = i + 1};

        heap.heap.process_id = source->heaps.items[i].process;
        heap.heap.device_id = is_host ? 0 : i + 1;
        heap.heap.level = is_host ? NM_LEVEL_HOST : NM_LEVEL_POOL;
        heap.heap.size_basis = NM_BASIS_BLOCK;
        status = intern(source, name_of(&source->heaps.items[i]), &heap.heap.name, err);
        if (status == NM_OK)
            status = nm_gathered_define(source->gathered, &heap, err);
    }
    return status;
}

static int compare_steps(const void *left, const void *right)
{
    const kineto_step *a = left, *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* One for each heap of which what is stated is not what was seen. */
static nm_status add_notes(kineto_source *source, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < source->heaps.count && status == NM_OK; i++) {
        const kineto_heap *heap = &source->heaps.items[i];
        nm_event note = {.kind = NM_EVENT_NOTE,
                         .time_ns = NM_NO_TIME,
                         .detail = NM_NOTE_OTHER_TOTAL,
                         .number = (int64_t)heap->odd_count};

        for (size_t t = 0; t < source->threads.count && note.thread_id == 0; t++)
            note.thread_id = source->threads.items[t].process == heap->process ? t + 1 : 0;
        if (heap->odd_count > 0)
            status = intern(source, name_of(heap), &note.name_id, err);
        if (heap->odd_count > 0 && status == NM_OK)
            status = nm_gathered_event(source->gathered, INT64_MIN, &note, err);
    }
    return status;
}

/* A step is told twice, the second time as the device came to it: in another process, or later. */
static nm_status add_steps(kineto_source *source, nm_error *err)
{
    nm_status status = NM_OK;

    if (source->steps.count > 0)
        qsort(source->steps.items, source->steps.count, sizeof *source->steps.items, compare_steps);
    for (size_t i = 0; i < source->steps.count && status == NM_OK; i++) {
        const kineto_step *step = &source->steps.items[i];
        const uint64_t *process = nm_map_get(&source->process_of, (nm_key){0, (uint64_t)step->pid});
        uint32_t thread = 0;

        if (process == NULL || (i > 0 && step[-1].pid == step->pid && step[-1].number == step->number))
            continue;
        status = number_thread(source, *process + 1, step->tid, &thread, err);
        source->begin_ns = step->time_ns < source->begin_ns ? step->time_ns : source->begin_ns;
        nm_event event = {
            .kind = NM_EVENT_STEP, .time_ns = step->time_ns, .thread_id = (uint64_t)thread + 1, .number = step->number};
        if (status == NM_OK)
            status = nm_gathered_event(source->gathered, step->time_ns, &event, err);
    }
    return status;
}

static nm_status gather(kineto_source *source, nm_error *err)
{
    nm_status status = find_baseline(source, err);

    if (status == NM_OK)
        status = add_notes(source, err);
    if (status == NM_OK)
        status = add_steps(source, err);
    if (status == NM_OK)
        status = define_programs(source, err);
    if (status == NM_OK)
        status = define_heaps(source, err);
    if (status == NM_OK)
        nm_gathered_sort(source->gathered);
    return status;
}

/* ---- Delivery ---- */

static int64_t oom_code(int64_t type)
{
    return type == DEVICE_PRIVATEUSE                   ? ERROR_OOM_NPU
           : type == DEVICE_CUDA || type == DEVICE_HIP ? ERROR_OOM_GPU
                                                       : NM_UNKNOWN_NUMBER;
}

/* What its pool holds says whether it served this by itself. Less than before: it gave some back in between, and may have grown.
 * Of the first that is told nothing was before: a pool that holds no more than one segment has grown for it. */
static uint64_t hit_of(const kineto_heap *heap, const memory_event *event)
{
    int64_t before_bytes = heap->reserved_bytes;

    if (heap->type == DEVICE_CPU || event->reserved_bytes < 0 || event->reserved_bytes < before_bytes)
        return 0;
    if (before_bytes == NM_UNKNOWN_NUMBER)
        before_bytes =
            event->reserved_bytes <= SEGMENT_BYTES || event->reserved_bytes - event->bytes < SEGMENT_STEP_BYTES
                ? 0
                : event->reserved_bytes;
    return event->reserved_bytes > before_bytes ? NM_FLAG_MISS : NM_FLAG_HIT;
}

static nm_event event_of(const kineto_heap *heap, const memory_event *event)
{
    nm_event out = {
        .kind = event->kind,
        .heap_id = (uint64_t)event->heap + 1,
        .address = event->address,
        .stack_id = event->stack,
    };

    if (event->kind == NM_EVENT_ALLOC) {
        out.flags = hit_of(heap, event);
        out.block_bytes = (uint64_t)event->bytes;
        out.policy = policy_of(heap);
    } else if (event->kind == NM_EVENT_ALLOC_FAILED) {
        out.requested_bytes = (uint64_t)event->bytes;
        out.policy = policy_of(heap);
        out.error_code = oom_code(heap->type);
    }
    return out;
}

/* What goes in front of an event of memory: that something was not seen, and what its pool states, where that is new. */
static nm_event next_before(kineto_source *source, const memory_event *event, kineto_heap *heap)
{
    if (event->is_odd && !source->is_loss_said) {
        source->is_loss_said = true;
        return (nm_event){.kind = NM_EVENT_LOSS,
                          .flags = NM_FLAG_AT_LEAST,
                          .number = 1,
                          .detail = NM_LOSS_UNREADABLE,
                          .until_ns = event->time_ns - source->begin_ns};
    }
    if (heap->type == DEVICE_CPU || event->reserved_bytes < 0 || event->reserved_bytes == heap->said_bytes)
        return (nm_event){0};
    heap->said_bytes = event->reserved_bytes;
    return (nm_event){.kind = NM_EVENT_RESERVED,
                      .heap_id = (uint64_t)event->heap + 1,
                      .block_bytes = (uint64_t)event->reserved_bytes};
}

static nm_event next_memory(kineto_source *source)
{
    const memory_event *event = &source->events.items[source->at];
    kineto_heap *heap = &source->heaps.items[event->heap];
    nm_event out = next_before(source, event, heap);

    if (out.kind == NM_EVENT_NONE) {
        out = event_of(heap, event);
        heap->reserved_bytes = event->reserved_bytes >= 0 ? event->reserved_bytes : heap->reserved_bytes;
        source->is_loss_said = false;
        source->at++;
    }
    out.time_ns = event->time_ns - source->begin_ns;
    out.thread_id = (uint64_t)event->thread + 1;
    return out;
}

/* Of what was gathered. */
static nm_record next_waiting(kineto_source *source)
{
    nm_record out = source->waiting;

    source->has_waiting = false;
    if (out.kind == NM_RECORD_EVENT) {
        bool is_numbered = out.event.time_ns != NM_NO_TIME; /* a step, and no baseline or note */

        out.event.time_ns -= is_numbered ? source->begin_ns : 0;
        out.event.seq = source->seq;
        source->seq += is_numbered;
    }
    return out;
}

static nm_status source_next(nm_source *base, nm_record *out, nm_error *err)
{
    kineto_source *source = (kineto_source *)base;
    nm_status status = NM_OK;

    if (!source->has_waiting) {
        status = nm_gathered_next(source->gathered, &source->waiting, err);
        source->has_waiting = status == NM_OK;
    }
    while (source->at < source->events.count) {
        if (source->has_waiting && (source->waiting.kind == NM_RECORD_DEFINITION ||
                                    source->waiting.event.time_ns <= source->events.items[source->at].time_ns))
            break;
        *out = (nm_record){.kind = NM_RECORD_EVENT, .event = next_memory(source)};
        out->event.seq = source->seq++;
        return NM_OK;
    }
    if (!source->has_waiting)
        return status;
    *out = next_waiting(source);
    return NM_OK;
}

/* ---- Life ---- */

static bool source_matches(nm_bytes head)
{
    static const char *const words[] = {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"",
                                        "\"distributedInfo\"", "\"torch_profiler_kwargs\""};
    size_t at = 0;

    while (at < head.len && strchr(" \t\r\n\xef\xbb\xbf", head.data[at]) != NULL && head.data[at] != 0)
        at++;
    if (at == head.len || head.data[at] != '{')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (memmem(head.data, head.len, words[i], strlen(words[i])) != NULL)
            return true;
    return false;
}

static void source_close(nm_source *base)
{
    kineto_source *source = (kineto_source *)base;

    nm_kineto_reader_free(&source->reader);
    nm_gathered_free(source->gathered);
    free(source->events.items);
    free(source->heaps.items);
    free(source->threads.items);
    free(source->steps.items);
    free(source->processes.items);
    nm_map_free(&source->process_of);
    nm_map_free(&source->thread_of);
    nm_map_free(&source->device_of);
    nm_map_free(&source->heap_of);
    nm_input_close(source->input);
    free(source);
}

static nm_status source_open(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    kineto_source *source = calloc(1, sizeof *source);

    *out = NULL;
    if (source == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    source->base.type = &nm_kineto_source_type;

    nm_status status = nm_input_open(fd, head, &source->input, err);
    if (status == NM_OK)
        status = nm_gathered_new(&source->gathered, err);
    source->reader.input = source->input;
    source->reader.gathered = source->gathered;
    if (status == NM_OK)
        status = read_memory(source, err);
    if (status == NM_OK)
        status = read_spans(source, err);
    if (status == NM_OK)
        status = gather(source, err);
    if (status != NM_OK) {
        source_close(&source->base);
        return status;
    }
    *out = &source->base;
    return NM_OK;
}

static nm_status source_rewind(nm_source *base, nm_error *err)
{
    kineto_source *source = (kineto_source *)base;

    (void)err;
    nm_gathered_rewind(source->gathered);
    for (size_t i = 0; i < source->heaps.count; i++)
        source->heaps.items[i].reserved_bytes = source->heaps.items[i].said_bytes = NM_UNKNOWN_NUMBER;
    source->has_waiting = source->is_loss_said = false;
    source->at = 0;
    source->seq = 0;
    return NM_OK;
}

static nm_carries carries_of(const kineto_source *source)
{
    nm_grade grade = source->has_allocated && source->odd_count == 0 ? NM_GRADE_EXACT : NM_GRADE_ESTIMATE;

    return (nm_carries){
        .leak = grade,
        .peak = grade,
        .fragmentation = source->has_reserved ? NM_GRADE_CURVE : NM_GRADE_NONE,
        .hits = source->has_reserved ? NM_GRADE_EXACT : NM_GRADE_NONE,
        .device = NM_GRADE_CURVE,
        .failure = NM_GRADE_EXACT,
    };
}

static void source_summary(const nm_source *base, nm_source_summary_data *out)
{
    const kineto_source *source = (const kineto_source *)base;
    const nm_kineto_reader *reader = &source->reader;
    int64_t begin_ns = reader->base_ns + source->begin_ns;
    bool is_cut = reader->is_cut || nm_input_is_cut(source->input);

    *out = (nm_source_summary_data){
        .kind = "torch.profiler trace",
        .order_kind = NM_ORDER_CLOCK,
        .carries = carries_of(source),
        .start_realtime_ns = begin_ns >= YEAR_2000_NS ? begin_ns : NM_NO_TIME,
        .events_seen = source->events.count + source->unread_count,
        .events_ingested = source->at,
        .events_damaged = source->unread_count,
        .bytes_cut = is_cut ? source->read_bytes - reader->whole_offset : 0,
        .detail_begin_ns = NM_NO_TIME,
        .is_loss_exact = true,
        .is_finished = !is_cut,
        .is_complete = !is_cut && source->unread_count == 0,
    };
    snprintf(out->recording_id, sizeof out->recording_id, "%016" PRIx64 "%016" PRIx64, source->checksum,
             source->read_bytes);
}

/* The file has been read: how far its events were delivered. */
static uint64_t source_position(const nm_source *base)
{
    const kineto_source *source = (const kineto_source *)base;

    return (uint64_t)((double)nm_input_size(source->input) * (double)source->at / (double)source->events.count);
}

const nm_source_type nm_kineto_source_type = {
    .name = "kineto",
    .is_unpacking = true,
    .matches = source_matches,
    .open = source_open,
    .next = source_next,
    .summary = source_summary,
    .position = source_position,
    .close = source_close,
    .rewind = source_rewind,
};
