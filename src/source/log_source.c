/* SPDX-License-Identifier: Apache-2.0
 *
 * The source for logs: any text in which a message stands that a request for memory failed. The text is read once, while it is opened;
 * what is kept of it are the messages that differ. One error is printed several times, by the process that has it, by those above it
 * and by whoever catches it: the same figures of the same process, or of one that is not named, are one failure.
 *
 * What a message states becomes events, so that what follows needs no other rules for it: the pool's blocks are one block of that
 * size that was there before, what it had reserved is what it says of itself, and the failure names the device's free and whole memory.
 * Where a later message of the process states other figures, that block is replaced: what happened in between is not known
 * (NM_FLAG_PAUSED). Numbers: processes in the order of their messages; a device a process and ordinal, with two heaps, 2n - 1 (its pool)
 * and 2n (driver memory).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/checksum.h"
#include "base/human.h"
#include "base/map.h"
#include "base/number.h"
#include "base/spoken.h"
#include "source/gathered.h"
#include "source/log_failure.h"
#include "source/log_lines.h"
#include "source/log_stack.h"
#include "source/log_table.h"
#include "source/refuse.h"
#include "source/source.h"

#define FAILURES_MAX    2000 /* that differ; more are counted */
#define BLOCK_LINES_MAX 64   /* from one line of a message of CANN to its last */
#define OPEN_BYTES_MAX  4096
#define OPEN_LINES_MAX  6 /* of a message that an editor has broken */
#define HIDDEN_MAX      1000000
#define CHIPS_MAX       2048                /* of a card: more than a table's row may say */
#define HOLDERS_MAX     1024                /* rows of tables, the last of each process */
#define ADDRESS         (UINT64_C(1) << 46) /* of what is stated, which has none: n times this for block n */

typedef struct failure {
    nm_log_failure told;
    nm_log_origin origin;
    nm_log_time time;
    uint64_t host; /* string */
    uint64_t stack_id, process;
    uint64_t line;      /* where it was told last */
    uint64_t next_same; /* of the same figures: index + 1 of one before it */
} failure;

/* Another process of a device, by a table or by the message. */
typedef struct holder {
    int64_t card, chip, pid;
    uint64_t name; /* string */
    uint64_t used_bytes;
    bool is_of_message;
} holder;

typedef struct device_state {
    uint64_t process;
    int64_t ordinal;
    uint64_t pool_bytes, driver_bytes; /* stated last: 0: none */
    bool has_pool, has_driver;         /* heaps that are needed */
    bool is_begun, has_message;        /* a message names the processes of the device */
    bool is_shared;                    /* others are told of: the same piece of hardware */
    uint64_t outside_bytes;            /* in use by others when it failed last */
    nm_log_amount capacity;
    const char *kind, *pool;
    int64_t module;
} device_state;

typedef struct log_source {
    nm_source base;
    nm_input *input;
    nm_gathered *gathered;
    nm_log_stacks *stacks;
    nm_map by_figures; /* checksum -> index + 1 of the first */
    nm_map by_device;  /* (process, ordinal) -> number of the device */
    nm_map by_rank, by_pid;
    nm_map by_holder; /* (card and chip, pid) -> index */
    struct {
        failure *items;
        size_t count, capacity;
    } failures;
    struct {
        device_state *items;
        size_t count, capacity;
    } devices;
    struct {
        holder *items;
        size_t count, capacity;
    } holders;
    bool has_chips; /* tables count chips of cards */
    uint64_t process_count;
    uint64_t left_out; /* failures beyond the limit */
    uint64_t hidden;   /* processes whose messages a launcher left out */
    uint64_t line_count;
    uint8_t clock[NM_LOG_TIME_BYTES]; /* the last line that had a time: its beginning */
    size_t clock_len;
    uint8_t open[OPEN_BYTES_MAX]; /* the beginning of a message that may go on in the next line */
    size_t open_len, open_lines;
    size_t open_failure; /* index + 1 */
    size_t last_told;    /* index + 1 of what the last message was of; 0: of none that is kept */
    nm_checksum_run sum;
    uint64_t bytes;
    int64_t start_ns; /* of time 0 */
    bool has_year;
} log_source;

/* ---- What differs ------------------------------------------------------------------------------------------------ */

static uint64_t writer_of(const nm_log_origin *origin)
{
    const int64_t numbers[] = {origin->rank, origin->local_rank, origin->pid, origin->is_parent};

    return nm_checksum(numbers, sizeof numbers);
}

static bool may_be_one(int64_t a, int64_t b)
{
    return a == b || a == NM_UNKNOWN_NUMBER || b == NM_UNKNOWN_NUMBER;
}

static bool may_be_same(const nm_log_origin *a, const nm_log_origin *b)
{
    return may_be_one(a->rank, b->rank) && may_be_one(a->local_rank, b->local_rank) &&
           (may_be_one(a->pid, b->pid) || a->is_parent || b->is_parent);
}

static uint64_t figures_of(const nm_log_failure *told)
{
    const uint64_t figures[] = {told->form,       (uint64_t)told->device,  told->tried.bytes,  told->capacity.bytes,
                                told->free.bytes, told->allocated.bytes,   told->active.bytes, told->reserved.bytes,
                                told->own.bytes,  told->capacity.is_known, told->free.is_known};

    return nm_checksum(figures, sizeof figures);
}

/* Does the message have figures of its own, and is not one line of several? */
static bool is_whole(const nm_log_failure *told)
{
    return told->form == NM_LOG_FIXED || told->capacity.is_known || told->allocated.is_known;
}

static failure *last_failure(const log_source *source)
{
    return source->failures.count == 0 ? NULL : &source->failures.items[source->failures.count - 1];
}

static void learn(nm_log_origin *to, const nm_log_origin *more)
{
    to->rank = to->rank == NM_UNKNOWN_NUMBER ? more->rank : to->rank;
    to->local_rank = to->local_rank == NM_UNKNOWN_NUMBER ? more->local_rank : to->local_rank;
    if (to->pid == NM_UNKNOWN_NUMBER || (to->is_parent && more->pid != NM_UNKNOWN_NUMBER))
        to->pid = more->pid;
    to->is_parent = to->is_parent && more->is_parent;
}

static void learn_amount(nm_log_amount *to, const nm_log_amount *more)
{
    if (!to->is_known)
        *to = *more;
}

/* A pool that was asked for another size has another message. */
static bool is_other_request(const nm_log_failure *before, const nm_log_failure *told)
{
    return before->form == NM_LOG_POOL && told->form == NM_LOG_POOL && before->tried.is_known && told->tried.is_known &&
           before->tried.bytes != told->tried.bytes;
}

/* The message of which the line is a part, or NULL: one just before that may be of the same process. */
static failure *whole_of(const log_source *source, const nm_log_failure *told, const nm_log_origin *origin)
{
    failure *last = last_failure(source);

    if (last == NULL || source->line_count - last->line > BLOCK_LINES_MAX || !may_be_same(&last->origin, origin) ||
        !may_be_one(last->told.device, told->device))
        return NULL;
    return last;
}

/* A line of several of one failure. A driver is asked for less and less: the most is what was wanted. */
static void add_part(failure *to, const nm_log_failure *told, const nm_log_origin *origin)
{
    if (to->told.form == NM_LOG_DRIVER && told->tried.is_known && told->tried.bytes > to->told.tried.bytes)
        to->told.tried = told->tried;
    to->told.device = to->told.device == NM_UNKNOWN_NUMBER ? told->device : to->told.device;
    to->told.module = to->told.module == 0 ? told->module : to->told.module;
    learn_amount(&to->told.tried, &told->tried);
    learn_amount(&to->told.capacity, &told->capacity);
    learn_amount(&to->told.free, &told->free);
    learn(&to->origin, origin);
}

/* One that was told already, by the same process or by one that is not named. */
static failure *told_before(const log_source *source, const nm_log_failure *told, const nm_log_origin *origin)
{
    uint64_t figures = figures_of(told);
    const uint64_t *first = nm_map_get(&source->by_figures, (nm_key){0, figures});

    for (uint64_t at = first == NULL ? 0 : *first; at != 0; at = source->failures.items[at - 1].next_same) {
        failure *item = &source->failures.items[at - 1];

        if (figures_of(&item->told) == figures && may_be_same(&item->origin, origin))
            return item;
    }
    return NULL;
}

/* Of messages in parts: the same request of the same process, printed again. */
static failure *part_before(const log_source *source, const nm_log_failure *told, const nm_log_origin *origin)
{
    for (size_t i = source->failures.count, seen = 0; i > 0 && seen < BLOCK_LINES_MAX; i--, seen++) {
        failure *item = &source->failures.items[i - 1];

        if (item->told.form == told->form && !is_other_request(&item->told, told) &&
            may_be_same(&item->origin, origin) && may_be_one(item->told.device, told->device) &&
            (!told->tried.is_known || !item->told.tried.is_known || told->tried.bytes <= item->told.tried.bytes))
            return item;
    }
    return NULL;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static nm_log_time time_now(const log_source *source, nm_bytes line)
{
    nm_log_time time = nm_log_time_read(line);

    return time.ns != NM_NO_TIME ? time : nm_log_time_read((nm_bytes){source->clock, source->clock_len});
}

/* The failure (index + 1) is found by what it has. */
static nm_status note_figures(log_source *source, size_t number, nm_error *err)
{
    failure *item = &source->failures.items[number - 1];
    nm_key key = {0, figures_of(&item->told)};
    const uint64_t *same = nm_map_get(&source->by_figures, key);

    item->next_same = same != NULL && *same < number ? *same : 0;
    return nm_map_put(&source->by_figures, key, number, err);
}

static nm_status add_failure(log_source *source, const nm_log_failure *told, const nm_log_origin *origin, nm_bytes line,
                             nm_error *err)
{
    failure next = {.told = *told, .origin = *origin, .time = time_now(source, line)};
    nm_status status;

    next.origin.host = (nm_bytes){0};
    status = nm_gathered_string(source->gathered, origin->host, &next.host, err);
    if (status == NM_OK)
        status = nm_array_grow(&source->failures.items, &source->failures.capacity, source->failures.count + 1,
                               sizeof next, err);
    if (status != NM_OK)
        return status;
    source->failures.items[source->failures.count++] = next;
    return note_figures(source, source->failures.count, err);
}

/* "[repeated 6x across cluster]": of so many lines this one is shown. */
static void note_hidden(log_source *source, nm_bytes line)
{
    static const char words[] = "[repeated ";
    const uint8_t *end = line.data + line.len, *at = memmem(line.data, line.len, words, sizeof words - 1);
    uint64_t count = 0;

    if (at == NULL || memmem(at, (size_t)(end - at), "x across cluster]", 17) == NULL)
        return;
    for (at += sizeof words - 1; at < end && *at >= '0' && *at <= '9' && count < HIDDEN_MAX; at++)
        count = count * 10 + (uint64_t)(*at - '0');
    if (count > 1 && source->hidden < HIDDEN_MAX)
        source->hidden += count - 1;
}

static nm_status take_failure(log_source *source, const nm_log_failure *told, const nm_log_origin *origin,
                              nm_bytes line, nm_error *err)
{
    failure *known = NULL, *last = whole_of(source, told, origin);
    nm_status status = NM_OK;
    uint64_t stack_id = 0;

    source->last_told = 0;
    if (is_whole(told)) {
        known = told_before(source, told, origin);
        if (known != NULL) {
            learn(&known->origin, origin);
        } else if (last != NULL && !is_whole(&last->told)) { /* what it is about was told in parts */
            last->told = *told;
            known = last;
            status = note_figures(source, source->failures.count, err);
        }
    } else {
        known = last != NULL && !is_other_request(&last->told, told) ? last : part_before(source, told, origin);
        if (known != NULL)
            add_part(known, told, origin);
    }
    if (known == NULL && source->failures.count >= FAILURES_MAX) {
        source->left_out++;
        return NM_OK;
    }
    if (known == NULL) {
        status = add_failure(source, told, origin, line, err);
        known = last_failure(source);
        note_hidden(source, line);
    }
    if (status != NM_OK)
        return status;
    known->line = source->line_count;
    source->last_told = (size_t)(known - source->failures.items) + 1;
    status = nm_log_stacks_take(source->stacks, writer_of(origin), source->line_count,
                                known->stack_id == 0 ? source->gathered : NULL, &stack_id, err);
    known->stack_id = known->stack_id == 0 ? stack_id : known->stack_id;
    return status;
}

/* One more row or word of a process; the message's figure goes before a table's, and only a table has names. */
static nm_status add_holder(log_source *source, const holder *next, nm_bytes name, nm_error *err)
{
    nm_key key = {(uint64_t)(next->card * CHIPS_MAX + next->chip), (uint64_t)next->pid};
    const uint64_t *known = nm_map_get(&source->by_holder, key);
    nm_status status = NM_OK;

    if (known == NULL && source->holders.count >= HOLDERS_MAX)
        return NM_OK;
    if (known != NULL) {
        source->holders.items[*known].used_bytes = next->used_bytes;
        source->holders.items[*known].is_of_message = next->is_of_message;
        return NM_OK;
    }
    status =
        nm_array_grow(&source->holders.items, &source->holders.capacity, source->holders.count + 1, sizeof *next, err);
    if (status == NM_OK)
        status = nm_map_put(&source->by_holder, key, source->holders.count, err);
    if (status != NM_OK)
        return status;
    holder *item = &source->holders.items[source->holders.count++];
    *item = *next;
    return nm_gathered_string(source->gathered, name, &item->name, err);
}

static nm_status take_row(log_source *source, const nm_log_holder *row, nm_error *err)
{
    const holder next = {.card = row->card, .chip = row->chip, .pid = row->pid, .used_bytes = row->used_bytes};

    source->has_chips = source->has_chips || row->chip > 0;
    return add_holder(source, &next, row->name, err);
}

/* A message that breaks off at the line's end: an editor or a terminal may have broken it. */
static void open_message(log_source *source, const nm_log_failure *told, nm_bytes line)
{
    size_t len = line.len - told->at;

    source->open_len = 0;
    if (told->form != NM_LOG_POOL || told->reserved.is_known || len + 1 >= OPEN_BYTES_MAX || source->last_told == 0)
        return;
    memcpy(source->open, line.data + told->at, len);
    source->open_len = len;
    source->open_lines = 0;
    source->open_failure = source->last_told;
}

/* Does the message that is open say more with the line? Then the failure has its figures. */
static nm_status go_on(log_source *source, nm_bytes line, nm_error *err)
{
    size_t at = 0,
           len = line.len < OPEN_BYTES_MAX - source->open_len - 1 ? line.len : OPEN_BYTES_MAX - source->open_len - 1;
    nm_log_failure told;

    source->open[source->open_len] = ' ';
    memcpy(source->open + source->open_len + 1, line.data, len);
    source->open_len += len + 1;
    failure *item = &source->failures.items[source->open_failure - 1];
    if (!nm_log_failure_read((nm_bytes){source->open, source->open_len}, &at, &told) || told.form != NM_LOG_POOL ||
        ++source->open_lines >= OPEN_LINES_MAX || source->open_len + 1 >= OPEN_BYTES_MAX)
        source->open_len = 0;
    else if (is_whole(&told) && told.tried.bytes == item->told.tried.bytes && !item->told.reserved.is_known) {
        item->told = told;
        source->open_len = told.reserved.is_known ? 0 : source->open_len;
        return note_figures(source, source->open_failure, err);
    }
    return NM_OK;
}

static nm_status take_line(log_source *source, nm_bytes line, bool is_cut, nm_error *err)
{
    nm_log_failure told;
    nm_log_origin origin;
    nm_log_holder row;
    bool has_failure = false;
    nm_status status = NM_OK;

    if (nm_log_holder_read(line, &row))
        return take_row(source, &row, err);
    if (nm_log_clock_find(line) < line.len) {
        source->clock_len = line.len < sizeof source->clock ? line.len : sizeof source->clock;
        memcpy(source->clock, line.data, source->clock_len);
    }
    for (size_t at = 0; status == NM_OK && nm_log_failure_read(line, &at, &told);) {
        if (is_cut && told.at + NM_LOG_OVERLAP_BYTES >= line.len)
            break; /* the next piece has it whole */
        has_failure = true;
        nm_log_origin_read(line, &origin);
        status = take_failure(source, &told, &origin, line, err);
        open_message(source, &told, line);
    }
    if (status == NM_OK && !has_failure && source->open_len > 0)
        status = go_on(source, line, err);
    if (status != NM_OK || has_failure || !nm_log_stacks_wants(source->stacks, line))
        return status;
    nm_log_origin_read(line, &origin);
    return nm_log_stacks_line(source->stacks, writer_of(&origin), source->line_count, line, err);
}

static nm_status read_lines(log_source *source, nm_error *err)
{
    nm_log_lines *lines = NULL;
    nm_bytes line;
    bool is_cut;
    nm_status status = nm_log_lines_new(source->input, &lines, err);

    while (status == NM_OK && (status = nm_log_lines_next(lines, &line, &is_cut, err)) == NM_OK) {
        source->line_count++;
        status = take_line(source, line, is_cut, err);
    }
    if (status == NM_END)
        status = NM_OK;
    source->line_count = lines == NULL ? 0 : nm_log_lines_count(lines);
    if (lines != NULL)
        nm_log_lines_sum(lines, &source->sum, &source->bytes);
    nm_log_lines_free(lines);
    return status;
}

/* ---- What is delivered ------------------------------------------------------------------------------------------- */

static nm_status text_of(log_source *source, const char *text, uint64_t *id, nm_error *err)
{
    return nm_gathered_string(source->gathered, (nm_bytes){(const uint8_t *)text, strlen(text)}, id, err);
}

/* The process of a failure: by its rank, else by its pid, else the one that nothing is known of. */
static nm_status number_process(log_source *source, failure *item, nm_error *err)
{
    const nm_log_origin *origin = &item->origin;
    int64_t rank = origin->rank != NM_UNKNOWN_NUMBER ? origin->rank : origin->local_rank;
    nm_key rank_key = {origin->rank != NM_UNKNOWN_NUMBER, (uint64_t)rank},
           pid_key = {item->host, (uint64_t)origin->pid};
    bool has_rank = rank != NM_UNKNOWN_NUMBER, has_pid = origin->pid != NM_UNKNOWN_NUMBER || !has_rank;
    const uint64_t *by_rank = has_rank ? nm_map_get(&source->by_rank, rank_key) : NULL;
    const uint64_t *by_pid = has_pid ? nm_map_get(&source->by_pid, pid_key) : NULL;
    bool is_new = by_rank == NULL && by_pid == NULL;
    nm_status status = NM_OK;

    item->process = by_pid != NULL ? *by_pid : by_rank != NULL ? *by_rank : ++source->process_count;
    if (has_rank)
        status = nm_map_put(&source->by_rank, rank_key, item->process, err);
    if (status == NM_OK && has_pid)
        status = nm_map_put(&source->by_pid, pid_key, item->process, err);
    if (status != NM_OK || !is_new)
        return status;
    return nm_gathered_define(source->gathered,
                              &(nm_definition){.kind = NM_DEFINE_PROCESS,
                                               .id = item->process,
                                               .process = {.pid = origin->pid,
                                                           .host = item->host,
                                                           .rank = origin->rank,
                                                           .local_rank = origin->local_rank,
                                                           .world_size = NM_UNKNOWN_NUMBER,
                                                           .run_mode = NM_UNKNOWN_NUMBER,
                                                           .begin_ns = NM_NO_TIME}},
                              err);
}

static void note_outside(device_state *device, const nm_log_failure *told)
{
    uint64_t own_bytes = told->own.bytes > told->reserved.bytes ? told->own.bytes : told->reserved.bytes;

    device->has_message = device->has_message || told->process_count > 0;
    if (told->capacity.is_known && told->free.is_known)
        device->outside_bytes =
            nm_subtract_saturated(nm_subtract_saturated(told->capacity.bytes, told->free.bytes), own_bytes);
}

static nm_status number_device(log_source *source, const failure *item, uint64_t *number, nm_error *err)
{
    nm_status status =
        nm_map_number(&source->by_device, (nm_key){item->process, (uint64_t)item->told.device}, number, err);

    if (status != NM_OK)
        return status;
    if (*number == source->devices.count) {
        status = nm_array_grow(&source->devices.items, &source->devices.capacity, source->devices.count + 1,
                               sizeof *source->devices.items, err);
        if (status != NM_OK)
            return status;
        source->devices.items[source->devices.count++] = (device_state){
            .process = item->process, .ordinal = item->told.device, .kind = item->told.device_kind, .pool = "pool"};
    }
    device_state *device = &source->devices.items[*number];
    bool is_driver = item->told.form == NM_LOG_DRIVER;
    device->has_pool = device->has_pool || !is_driver;
    device->has_driver = device->has_driver || is_driver || item->told.own.is_known;
    device->pool = is_driver ? device->pool : item->told.pool;
    device->module = device->module == 0 ? item->told.module : device->module;
    note_outside(device, &item->told);
    learn_amount(&device->capacity, &item->told.capacity);
    return NM_OK;
}

static uint64_t heap_of(uint64_t device, bool is_pool)
{
    return 2 * device + (is_pool ? 1 : 2);
}

static nm_status define_heap(log_source *source, uint64_t number, bool is_pool, nm_error *err)
{
    const device_state *device = &source->devices.items[number];
    nm_definition heap = {.kind = NM_DEFINE_HEAP,
                          .id = heap_of(number, is_pool),
                          .heap = {.process_id = device->process,
                                   .device_id = number + 1,
                                   .level = is_pool ? NM_LEVEL_POOL : NM_LEVEL_DRIVER,
                                   .size_basis = NM_BASIS_REQUESTED,
                                   .module_id = is_pool ? 0 : (uint64_t)device->module}};
    nm_status status = text_of(source, is_pool ? device->pool : "device memory", &heap.heap.name, err);

    return status == NM_OK ? nm_gathered_define(source->gathered, &heap, err) : status;
}

static nm_status define_device(log_source *source, uint64_t number, nm_error *err)
{
    const device_state *device = &source->devices.items[number];
    nm_definition defined = {.kind = NM_DEFINE_DEVICE,
                             .id = number + 1,
                             .device = {.process_id = device->process,
                                        .ordinal = device->ordinal,
                                        .physical_ordinal = device->is_shared ? device->ordinal : NM_UNKNOWN_NUMBER,
                                        .capacity_bytes = device->capacity.bytes}};
    nm_status status = text_of(source, device->kind, &defined.device.device_kind, err);

    if (status == NM_OK)
        status = nm_gathered_define(source->gathered, &defined, err);
    if (status == NM_OK && device->has_pool)
        status = define_heap(source, number, true, err);
    if (status == NM_OK && device->has_driver)
        status = define_heap(source, number, false, err);
    return status;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static int64_t event_time(const log_source *source, const failure *item)
{
    bool is_told = item->time.ns != NM_NO_TIME && item->time.has_year == source->has_year;

    return is_told ? item->time.ns - source->start_ns : NM_NO_TIME;
}

/* From here on the heap has one block of that size. */
static nm_status state_block(log_source *source, size_t index, uint64_t heap, bool is_first, uint64_t before_bytes,
                             uint64_t bytes, nm_error *err)
{
    nm_event event = {.kind = NM_EVENT_FREE,
                      .heap_id = heap,
                      .time_ns = event_time(source, &source->failures.items[index]),
                      .address = heap * ADDRESS,
                      .flags = NM_FLAG_PAUSED};
    nm_status status = NM_OK;

    if (before_bytes == bytes)
        return NM_OK;
    if (before_bytes > 0)
        status = nm_gathered_event(source->gathered, (int64_t)index, &event, err);
    event.kind = NM_EVENT_ALLOC;
    event.requested_bytes = event.block_bytes = bytes;
    event.policy = NM_POLICY_UNKNOWN;
    if (is_first) {
        event.flags = NM_FLAG_BASELINE;
        event.time_ns = NM_NO_TIME;
    }
    return status == NM_OK && bytes > 0 ? nm_gathered_event(source->gathered, (int64_t)index, &event, err) : status;
}

static nm_status state_figures(log_source *source, size_t index, uint64_t number, nm_error *err)
{
    const failure *item = &source->failures.items[index];
    device_state *device = &source->devices.items[number];
    nm_event reserved = {.kind = NM_EVENT_RESERVED,
                         .heap_id = heap_of(number, true),
                         .time_ns = event_time(source, item),
                         .block_bytes = item->told.reserved.bytes};
    nm_status status = NM_OK;

    if (item->told.allocated.is_known) {
        status = state_block(source, index, heap_of(number, true), !device->is_begun, device->pool_bytes,
                             item->told.allocated.bytes, err);
        device->pool_bytes = item->told.allocated.bytes;
    }
    if (status == NM_OK && item->told.own.is_known) {
        status = state_block(source, index, heap_of(number, false), !device->is_begun, device->driver_bytes,
                             item->told.own.bytes, err);
        device->driver_bytes = item->told.own.bytes;
    }
    device->is_begun = true;
    if (status == NM_OK && item->told.reserved.is_known)
        status = nm_gathered_event(source->gathered, (int64_t)index, &reserved, err);
    return status;
}

static nm_status state_failure(log_source *source, size_t index, nm_error *err)
{
    const failure *item = &source->failures.items[index];
    const nm_log_failure *told = &item->told;
    bool is_sampled = told->free.is_known && told->capacity.is_known;
    uint64_t number = 0;
    nm_event sample = {.kind = NM_EVENT_MEMORY_SAMPLE, .time_ns = event_time(source, item)}, failed = sample;

    nm_status status = number_device(source, item, &number, err);

    if (status == NM_OK)
        status = state_figures(source, index, number, err);
    sample.device_id = number + 1;
    sample.detail = NM_MEMORY_HBM;
    sample.free_bytes = failed.free_bytes = told->free.bytes;
    sample.total_bytes = failed.total_bytes = told->free.is_known ? told->capacity.bytes : 0;
    if (status == NM_OK && is_sampled)
        status = nm_gathered_event(source->gathered, (int64_t)index, &sample, err);
    failed.kind = NM_EVENT_ALLOC_FAILED;
    failed.flags =
        (told->free.is_known ? NM_FLAG_FREE_KNOWN : 0) | (told->tried.is_known ? 0 : NM_FLAG_PAUSED); /* not 0 bytes */
    failed.heap_id = heap_of(number, told->form != NM_LOG_DRIVER);
    failed.requested_bytes = told->tried.bytes;
    failed.stack_id = item->stack_id;
    failed.policy = NM_POLICY_UNKNOWN;
    failed.error_code = told->error_code;
    return status == NM_OK ? nm_gathered_event(source->gathered, (int64_t)index, &failed, err) : status;
}

/* Which of the processes that the message names is the one that failed, if none is said to be: the only one that holds what its pool
 * does. NM_LOG_PROCESSES_MAX: nobody can tell. */
static size_t own_of(const nm_log_failure *told)
{
    size_t found = 0, at = NM_LOG_PROCESSES_MAX;

    for (size_t i = 0; i < told->process_count && i < NM_LOG_PROCESSES_MAX; i++)
        if (told->processes[i].used.bytes + told->processes[i].used.doubt_bytes + told->reserved.doubt_bytes >=
            told->reserved.bytes) {
            found++;
            at = i;
        }
    return found == 1 ? at : NM_LOG_PROCESSES_MAX;
}

/* The processes of the device that a message names are others, but for itself. */
static nm_status take_processes(log_source *source, nm_log_failure *told, nm_error *err)
{
    size_t own = told->own.is_known || !told->reserved.is_known ? NM_LOG_PROCESSES_MAX : own_of(told);
    nm_status status = NM_OK;

    if (own < NM_LOG_PROCESSES_MAX)
        told->own = told->processes[own].used;
    for (size_t i = 0; i < told->process_count && i < NM_LOG_PROCESSES_MAX && status == NM_OK; i++) {
        const holder next = {.card = told->device,
                             .pid = told->processes[i].pid,
                             .used_bytes = told->processes[i].used.bytes,
                             .is_of_message = true};

        if (i != own && told->device >= 0 && told->own.is_known)
            status = add_holder(source, &next, (nm_bytes){0}, err);
    }
    return status;
}

/* A device that failed, by the number that a table gives it; NULL: none. */
static device_state *device_of(const log_source *source, const holder *item, size_t device_count)
{
    int64_t ordinal = source->has_chips && !item->is_of_message ? 2 * item->card + item->chip : item->card;

    for (size_t i = 0; i < device_count; i++)
        if (source->devices.items[i].ordinal == ordinal)
            return &source->devices.items[i];
    return NULL;
}

/* Another process, and its part of the device. */
static nm_status define_holder(log_source *source, const holder *item, const device_state *of, nm_error *err)
{
    nm_definition process = {.kind = NM_DEFINE_PROCESS,
                             .id = ++source->process_count,
                             .process = {.pid = item->pid,
                                         .command = item->name,
                                         .rank = NM_UNKNOWN_NUMBER,
                                         .local_rank = NM_UNKNOWN_NUMBER,
                                         .world_size = NM_UNKNOWN_NUMBER,
                                         .run_mode = NM_UNKNOWN_NUMBER,
                                         .begin_ns = NM_NO_TIME}};
    const device_state next = {.process = process.id,
                               .ordinal = of->ordinal,
                               .kind = of->kind,
                               .has_driver = true,
                               .is_shared = true,
                               .capacity = of->capacity};
    nm_status status = nm_gathered_define(source->gathered, &process, err);

    if (status == NM_OK)
        status = nm_array_grow(&source->devices.items, &source->devices.capacity, source->devices.count + 1,
                               sizeof *source->devices.items, err);
    if (status == NM_OK)
        source->devices.items[source->devices.count++] = next;
    return status;
}

/* What a process holds of a device, beside the one that failed. A table is of another moment: what does not fit is left out. */
static nm_status state_holder(log_source *source, const holder *item, size_t device_count, nm_error *err)
{
    device_state *of = device_of(source, item, device_count);
    uint64_t heap = heap_of(source->devices.count, false);
    const nm_event held = {.kind = NM_EVENT_ALLOC,
                           .time_ns = NM_NO_TIME,
                           .flags = NM_FLAG_BASELINE,
                           .heap_id = heap,
                           .address = heap * ADDRESS,
                           .requested_bytes = item->used_bytes,
                           .block_bytes = item->used_bytes,
                           .policy = NM_POLICY_UNKNOWN};

    if (of == NULL || of->has_message != item->is_of_message || item->used_bytes > of->outside_bytes ||
        nm_map_get(&source->by_pid, (nm_key){0, (uint64_t)item->pid}) != NULL)
        return NM_OK;
    of->outside_bytes -= item->used_bytes;
    of->is_shared = true;
    nm_status status = define_holder(source, item, of, err);
    return status == NM_OK ? nm_gathered_event(source->gathered, 0, &held, err) : status;
}

static void find_start(log_source *source)
{
    source->start_ns = NM_NO_TIME;
    for (size_t i = 0; i < source->failures.count; i++)
        source->has_year = source->has_year || source->failures.items[i].time.has_year;
    for (size_t i = 0; i < source->failures.count; i++) {
        const nm_log_time *time = &source->failures.items[i].time;

        if (time->ns != NM_NO_TIME && time->has_year == source->has_year &&
            (source->start_ns == NM_NO_TIME || time->ns < source->start_ns))
            source->start_ns = time->ns;
    }
}

static nm_status gather(log_source *source, nm_error *err)
{
    nm_status status = NM_OK;

    find_start(source);
    for (size_t i = 0; i < source->failures.count && status == NM_OK; i++) {
        status = take_processes(source, &source->failures.items[i].told, err);
        if (status == NM_OK)
            status = number_process(source, &source->failures.items[i], err);
        if (status == NM_OK)
            status = state_failure(source, i, err);
    }
    size_t device_count = source->devices.count;
    for (size_t i = 0; i < source->holders.count && status == NM_OK; i++)
        status = state_holder(source, &source->holders.items[i], device_count, err);
    for (size_t i = 0; i < source->devices.count && status == NM_OK; i++)
        status = define_device(source, i, err);
    nm_gathered_sort(source->gathered);
    return status;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void source_close(nm_source *base)
{
    log_source *source = (log_source *)base;

    nm_gathered_free(source->gathered);
    nm_log_stacks_free(source->stacks);
    nm_map_free(&source->by_figures);
    nm_map_free(&source->by_device);
    nm_map_free(&source->by_rank);
    nm_map_free(&source->by_pid);
    nm_map_free(&source->by_holder);
    free(source->failures.items);
    free(source->devices.items);
    free(source->holders.items);
    nm_input_close(source->input);
    free(source);
}

/* What is somebody's, which shows behind its first bytes alone. */
static nm_status refuse_named(log_source *source, nm_error *err)
{
    nm_buffer look = {0};
    nm_status status = nm_buffer_reserve(&look, NM_INPUT_LOOK_BYTES_MAX, err);

    if (status == NM_OK)
        status = nm_input_read(source->input, look.data, NM_INPUT_LOOK_BYTES_MAX, &look.len, err);
    if (status == NM_OK && nm_source_is_named((nm_bytes){look.data, look.len}))
        status = nm_source_refuse(-1, (nm_bytes){look.data, look.len}, err);
    nm_buffer_free(&look);
    return status == NM_OK ? nm_input_rewind(source->input, err) : status;
}

static nm_status refuse_silent(const log_source *source, nm_error *err)
{
    char lines[NM_HUMAN_BYTES];

    return nm_fail(
        err, NM_ERR_FORMAT, NM_NO_OFFSET,
        nm_spoken(source->line_count == 1 ? "no out-of-memory line in %s line" : "no out-of-memory line in %s lines"),
        nm_human_count(lines, (int64_t)source->line_count));
}

static nm_status source_open(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    log_source *source = calloc(1, sizeof *source);

    *out = NULL;
    if (source == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    source->base.type = &nm_log_source_type;

    nm_status status = nm_input_open_once(fd, head, &source->input, err);
    if (status == NM_OK)
        status = nm_gathered_new(&source->gathered, err);
    if (status == NM_OK)
        status = nm_log_stacks_new(&source->stacks, err);
    if (status == NM_OK)
        status = refuse_named(source, err);
    if (status == NM_OK)
        status = read_lines(source, err);
    if (status == NM_OK && source->failures.count == 0)
        status = refuse_silent(source, err);
    if (status == NM_OK)
        status = gather(source, err);
    if (status != NM_OK) {
        source_close(&source->base);
        return status;
    }
    *out = &source->base;
    return NM_OK;
}

static nm_status source_next(nm_source *base, nm_record *out, nm_error *err)
{
    return nm_gathered_next(((log_source *)base)->gathered, out, err);
}

static nm_status source_rewind(nm_source *base, nm_error *err)
{
    (void)err;
    nm_gathered_rewind(((log_source *)base)->gathered);
    return NM_OK;
}

static uint64_t source_position(const nm_source *base)
{
    return nm_input_position(((const log_source *)base)->input);
}

static void source_summary(const nm_source *base, nm_source_summary_data *out)
{
    const log_source *source = (const log_source *)base;

    *out = (nm_source_summary_data){
        .kind = "log",
        .order_kind = NM_ORDER_FILE,
        .carries = {.device = NM_GRADE_CURVE, .failure = NM_GRADE_EXACT},
        .start_realtime_ns = source->has_year ? source->start_ns : NM_NO_TIME,
        .events_seen = nm_gathered_event_count(source->gathered) + source->left_out,
        .events_ingested = nm_gathered_event_count(source->gathered),
        .events_dropped = source->left_out,
        .processes_unjoined = source->hidden,
        .detail_begin_ns = NM_NO_TIME,
        .is_loss_exact = true,
        .is_finished = true,
        .is_complete = source->hidden == 0 && source->left_out == 0 && !nm_input_is_cut(source->input),
    };
    snprintf(out->recording_id, sizeof out->recording_id, "%016" PRIx64 "%016" PRIx64, nm_checksum_end(&source->sum),
             source->bytes);
}

/* Text in which a terminal's colours may stand, or a few bytes of anything; a mark of UTF-16, whose zero bytes are passed over. */
static bool source_matches(nm_bytes head)
{
    size_t odd = 0, plain = 0;

    if (head.len >= 2 && head.data[0] == 0xff && head.data[1] == 0xfe)
        return true;
    for (size_t i = 0; i < head.len; i++) {
        odd += head.data[i] < ' ' && (head.data[i] == 0 || strchr("\t\n\r\x1b\b\f", head.data[i]) == NULL);
        plain += head.data[i] < 0x7f;
    }
    return plain > 0 && odd * 50 <= head.len && !nm_source_is_named(head);
}

const nm_source_type nm_log_source_type = {
    .is_guess = true,
    .name = "log",
    .is_unpacking = true,
    .matches = source_matches,
    .open = source_open,
    .next = source_next,
    .summary = source_summary,
    .position = source_position,
    .close = source_close,
    .rewind = source_rewind,
};
