/* SPDX-License-Identifier: Apache-2.0
 *
 * What heaps and devices held at each moment, against a model that is slow and obvious: it keeps all events of a random
 * trace and works out every figure of a moment from the first event on. Three processes use two pieces of hardware, in
 * ones and twos; every kind of device memory, pools with and without visible segments, ends of processes in between.
 * NPUMEM_SEED repeats a run; it is printed.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/passes.h"
#include "replay/replay.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/seed.h"
#include "support/suites.h"

#define TRACES     60
#define EVENTS     160
#define THINGS_MAX (EVENTS + 40)
#define PROCESSES  3
#define DEVICES    4 /* 1, 2: hardware 1 for processes 1, 2; 3: hardware 2 for process 2; 4: hardware 2 for process 3 */
#define KINDS      7 /* heaps of each device */
#define HEAPS      (DEVICES * KINDS + 1) /* numbers; the last but one is host memory of process 1, counted from 1 */
#define PINNED     (DEVICES * KINDS + 1)
#define SPAN       64 /* bytes of a driver allocation; blocks have a quarter of it */
#define TEXT_BYTES 16384
#define NEVER      INT64_MAX

enum { OWN, HCCL, PHYSICAL, PTA, ATB, WORKSPACE, IMPORTED };

static const struct {
    uint64_t level, module;
    const char *name;
} kinds[KINDS] = {{NM_LEVEL_DRIVER, 0, "memory"},     {NM_LEVEL_DRIVER, 3, "HCCL"},
                  {NM_LEVEL_PHYSICAL, 0, "physical"}, {NM_LEVEL_POOL, 0, "ptaCaching"},
                  {NM_LEVEL_POOL, 0, "atb"},          {NM_LEVEL_WORKSPACE, 0, "ptaWorkspace"},
                  {NM_LEVEL_IMPORTED, 0, "imported"}};
static const int process_of[DEVICES + 1] = {0, 1, 2, 2, 3};
static const int hardware_of[DEVICES + 1] = {0, 1, 1, 2, 2};
static const char *const modules[] = {"APP", "HCCL", "RUNTIME"};

typedef struct thing { /* an allocation */
    uint64_t heap, address, size, page;
    int64_t from, to;      /* events; -1: before the first, NEVER */
    int64_t segment_from;  /* driver memory: when a pool's block came to lie in it */
    uint64_t owner;        /* that pool */
    uint64_t slots[KINDS]; /* which quarters of it each kind of pool uses */
    int quarter, range;    /* of a block: where it lies, -1: in no driver memory */
    bool is_mapped;
} thing;

typedef struct told { /* by a pool, a device or a module */
    int64_t seq;
    int who; /* heap, hardware, or device */
    int module;
    uint64_t kind, a, b;
} told;

static struct {
    thing things[THINGS_MAX];
    int count;
    told reserved[EVENTS], samples[EVENTS], usages[EVENTS];
    int reserved_count, sample_count, usage_count;
    int64_t end_of[PROCESSES + 1]; /* event; NEVER */
    bool is_mark_process[EVENTS];
} model;

static nm_replay *replay;
static nm_store *store;
static int64_t seq; /* of the next event */
static uint64_t random_state, next_address;
static char folder[64], path[128];
static nm_error err;

static uint64_t pick(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % below;
}

static int heap_of(int device, int kind)
{
    return (device - 1) * KINDS + kind + 1;
}

static int device_of(uint64_t heap)
{
    return heap == PINNED ? 0 : (int)((heap - 1) / KINDS) + 1;
}

static int kind_of(uint64_t heap)
{
    return (int)((heap - 1) % KINDS);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void give(nm_event event, int process, bool is_baseline)
{
    nm_record record = {.kind = NM_RECORD_EVENT, .event = event};

    record.event.seq = (uint64_t)(is_baseline ? 0 : seq++);
    record.event.time_ns = NM_NO_TIME;
    record.event.thread_id = (uint64_t)process;
    if (is_baseline)
        record.event.flags |= NM_FLAG_BASELINE;
    ck_assert_msg(nm_replay_record(replay, &record, &err) == NM_OK, "%s", err.text);
}

static thing *add_thing(int device, int kind, bool is_baseline)
{
    thing *one = &model.things[model.count++];

    ck_assert_int_le(model.count, THINGS_MAX);
    *one = (thing){.heap = (uint64_t)heap_of(device, kind),
                   .from = is_baseline ? -1 : seq,
                   .to = NEVER,
                   .segment_from = NEVER,
                   .range = -1};
    return one;
}

static void do_memory(int device, int kind, bool is_baseline)
{
    thing *one = add_thing(device, kind, is_baseline);
    uint64_t page = pick(3) == 0 ? 0 : 4096;

    one->address = next_address += 8192;
    one->size = SPAN;
    one->is_mapped = kind == OWN && pick(3) == 0;
    one->page = one->is_mapped ? SPAN : page != 0 ? page : SPAN;
    give((nm_event){.kind = one->is_mapped ? NM_EVENT_MAP : NM_EVENT_ALLOC,
                    .heap_id = one->heap,
                    .address = one->address,
                    .requested_bytes = one->is_mapped ? 0 : SPAN,
                    .block_bytes = one->is_mapped ? SPAN : page},
         process_of[device], is_baseline);
}

/* Bytes of a heap that are live now. */
static uint64_t live_now(uint64_t heap)
{
    uint64_t bytes = 0;

    for (int i = 0; i < model.count; i++)
        if (model.things[i].heap == heap && model.things[i].to == NEVER)
            bytes += model.things[i].size;
    return bytes;
}

/* Some live driver memory of the device; -1: none was picked. */
static int pick_range(int device)
{
    for (int tries = 0; tries < 6 && model.count > 0; tries++) {
        int i = (int)pick((uint64_t)model.count);
        const thing *one = &model.things[i];

        if (one->heap != PINNED && one->to == NEVER && device_of(one->heap) == device && kind_of(one->heap) <= HCCL)
            return i;
    }
    return -1;
}

static void own_range(thing *range, uint64_t heap, int64_t at)
{
    if (range->owner != 0)
        return;
    range->owner = heap;
    range->segment_from = at;
}

/* A pool's block in a quarter of driver memory that its pool does not use yet, or where there is none. */
static void do_block(int device, int kind)
{
    int in = kind == ATB && pick(4) != 0 ? -1 : pick_range(device);
    int quarter = (int)pick(4);
    thing *one;

    if (in >= 0 && (model.things[in].slots[kind] >> quarter & 1))
        return;
    one = add_thing(device, kind, false);
    one->range = in;
    one->quarter = quarter;
    one->size = one->page = SPAN / 4;
    one->address = in >= 0 ? model.things[in].address + (uint64_t)quarter * SPAN / 4 : (next_address += 8192);
    if (in >= 0) {
        model.things[in].slots[kind] |= 1u << quarter;
        own_range(&model.things[in], one->heap, seq);
    }
    give((nm_event){.kind = NM_EVENT_ALLOC, .heap_id = one->heap, .address = one->address, .block_bytes = one->size},
         process_of[device], false);
}

/* A workspace tells its running total; it fills driver memory, or lies in none. */
static void do_workspace(int device)
{
    uint64_t heap = (uint64_t)heap_of(device, WORKSPACE);
    uint64_t live = live_now(heap);
    int in = pick_range(device);
    thing *one;

    if (in >= 0 && model.things[in].slots[WORKSPACE] != 0)
        return;
    one = add_thing(device, WORKSPACE, false);
    one->range = in;
    one->size = one->page = in >= 0 ? SPAN : pick(3) == 0 ? 0 : 24;
    one->address = in >= 0 ? model.things[in].address : (next_address += 8192);
    if (in >= 0) {
        model.things[in].slots[WORKSPACE] = 15;
        own_range(&model.things[in], heap, seq);
    }
    give((nm_event){.kind = NM_EVENT_ALLOC,
                    .flags = NM_FLAG_TOTAL,
                    .heap_id = heap,
                    .address = one->address,
                    .block_bytes = in >= 0 ? live + 1 : live + one->size},
         process_of[device], false);
}

/* Blocks of driver memory that goes are freed before it. */
static void do_free(int i)
{
    thing *one = &model.things[i];
    int process = one->heap == PINNED ? 1 : process_of[device_of(one->heap)];

    if (one->to != NEVER || model.end_of[process] != NEVER)
        return;
    for (int k = 0; k < model.count; k++)
        if (model.things[k].range == i)
            do_free(k);
    if (one->range >= 0)
        model.things[one->range].slots[kind_of(one->heap)] &=
            kind_of(one->heap) == WORKSPACE ? 0 : ~(1u << one->quarter);
    one->to = seq;
    give((nm_event){.kind = one->is_mapped ? NM_EVENT_UNMAP : NM_EVENT_FREE,
                    .heap_id = one->heap,
                    .address = one->address,
                    .block_bytes = one->is_mapped ? SPAN : 0},
         process, false);
}

static void do_pinned(void)
{
    thing *one = add_thing(1, OWN, false);

    one->heap = PINNED;
    one->address = next_address += 8192;
    one->size = one->page = 1 + pick(50);
    give((nm_event){.kind = NM_EVENT_ALLOC, .heap_id = PINNED, .address = one->address, .requested_bytes = one->size},
         1, false);
}

static void do_reserved(int device, int kind)
{
    uint64_t bytes = pick(300);

    model.reserved[model.reserved_count++] = (told){.seq = seq, .who = heap_of(device, kind), .a = bytes};
    give((nm_event){.kind = NM_EVENT_RESERVED, .heap_id = (uint64_t)heap_of(device, kind), .block_bytes = bytes},
         process_of[device], false);
}

static void do_sample(int device)
{
    told *one = &model.samples[model.sample_count++];

    *one = (told){.seq = seq,
                  .who = hardware_of[device],
                  .kind = pick(4) == 0 ? NM_MEMORY_DDR : NM_MEMORY_HBM,
                  .a = pick(5000),
                  .b = pick(9) == 0 ? 0 : 20000};
    give((nm_event){.kind = NM_EVENT_MEMORY_SAMPLE,
                    .device_id = (uint64_t)device,
                    .detail = one->kind,
                    .free_bytes = one->a,
                    .total_bytes = one->b},
         process_of[device], false);
}

static void do_usage(int device)
{
    told *one = &model.usages[model.usage_count++];

    *one = (told){.seq = seq, .who = device, .module = (int)pick(3), .a = pick(9000)};
    give((nm_event){.kind = NM_EVENT_MODULE_SAMPLE,
                    .device_id = (uint64_t)device,
                    .name_id = (uint64_t)one->module + 1,
                    .size_bytes = one->a},
         process_of[device], false);
}

static void do_failure(int device)
{
    model.samples[model.sample_count++] =
        (told){.seq = seq, .who = hardware_of[device], .kind = UINT64_MAX, .a = pick(5000), .b = 20000};
    give((nm_event){.kind = NM_EVENT_ALLOC_FAILED,
                    .heap_id = (uint64_t)heap_of(device, OWN),
                    .requested_bytes = 100,
                    .free_bytes = model.samples[model.sample_count - 1].a,
                    .total_bytes = 20000},
         process_of[device], false);
}

static void do_something(void)
{
    int device = 1 + (int)pick(DEVICES);
    uint64_t what = pick(100);

    if (model.end_of[process_of[device]] != NEVER)
        return;
    if (what < 22)
        do_memory(device, pick(2) == 0 ? OWN : (int)pick(3), false);
    else if (what < 40)
        do_block(device, pick(2) == 0 ? PTA : ATB);
    else if (what < 46)
        do_workspace(device);
    else if (what < 49)
        do_memory(device, IMPORTED, false);
    else if (what < 68 && model.count > 0)
        do_free((int)pick((uint64_t)model.count));
    else if (what < 74)
        do_reserved(device, PTA + (int)pick(3));
    else if (what < 82)
        do_sample(device);
    else if (what < 88)
        do_usage(device);
    else if (what < 94)
        give((nm_event){.kind = NM_EVENT_MARK}, process_of[device], false);
    else if (what < 96)
        do_failure(device);
    else if (what < 98 && model.end_of[1] == NEVER)
        do_pinned();
    else if (pick(4) == 0) {
        model.end_of[process_of[device]] = seq;
        give((nm_event){.kind = NM_EVENT_PROCESS_END, .number = process_of[device], .detail = NM_PROCESS_EXIT},
             process_of[device], false);
    }
}

/* ---- The figures of a moment ------------------------------------------------------------------------------------- */

typedef struct figures {
    int64_t live, count, page, mapped, segment, reserved, is_stated;
    bool is_unseen; /* a pool of which nothing but its blocks is known */
    bool has_held;  /* something, ever */
} figures;

static bool is_live_at(const thing *one, int64_t at)
{
    return one->from <= at && one->to > at;
}

static figures figures_at(uint64_t heap, int64_t at)
{
    figures out = {0};
    bool has_segments = false, has_stated = false, is_inside = false;
    int64_t stated = 0;

    for (int i = 0; i < model.count; i++) {
        const thing *one = &model.things[i];

        if (one->owner == heap && one->segment_from <= at) {
            has_segments = true;
            out.reserved += is_live_at(one, at) ? (int64_t)one->size : 0;
            out.has_held = true;
        }
        if (one->heap != heap || one->from > at)
            continue;
        out.has_held = true;
        is_inside |= one->range >= 0;
        if (one->to <= at)
            continue;
        out.live += (int64_t)one->size;
        out.count++;
        out.page += (int64_t)one->page;
        out.mapped += one->is_mapped ? (int64_t)one->size : 0;
        out.segment += one->segment_from <= at ? (int64_t)one->size : 0;
    }
    for (int i = 0; i < model.reserved_count; i++)
        if (model.reserved[i].who == (int)heap && model.reserved[i].seq <= at) {
            has_stated = true;
            stated = (int64_t)model.reserved[i].a;
        }
    out.is_stated = has_stated && !has_segments;
    if (out.is_stated) {
        out.reserved = stated;
        out.has_held = true;
    }
    out.is_unseen = (kind_of(heap) == PTA || kind_of(heap) == ATB) && !has_segments && !has_stated && !is_inside;
    if (out.is_unseen) /* at least */
        out.reserved = out.live;
    return out;
}

/* Did memory come or go that is the device's, and no part of other memory? */
static bool is_of_device(uint64_t heap, int64_t at)
{
    return kind_of(heap) <= PHYSICAL || figures_at(heap, at).is_unseen;
}

static bool changes(int hardware, int64_t at)
{
    for (int i = 0; i < model.count; i++) {
        const thing *one = &model.things[i];

        if (one->heap != PINNED && hardware_of[device_of(one->heap)] == hardware &&
            (one->from == at || one->to == at) && is_of_device(one->heap, at))
            return true;
    }
    return false;
}

static bool goes_with_process(int hardware, int64_t at)
{
    for (int device = 1; device <= DEVICES; device++)
        if (hardware_of[device] == hardware && model.end_of[process_of[device]] == at)
            for (int kind = OWN; kind <= ATB; kind++)
                if (figures_at((uint64_t)heap_of(device, kind), at).live > 0 &&
                    is_of_device((uint64_t)heap_of(device, kind), at))
                    return true;
    return false;
}

/* The last event up to which all stays as it is at `at`. */
static int64_t until(int hardware, int64_t at)
{
    while (at + 1 < seq && !changes(hardware, at + 1) && !goes_with_process(hardware, at + 1))
        at++;
    return at;
}

/* What the device said last, as of `at`; NULL: nothing. HBM counts before DDR, once it was told. */
static const told *sample_at(int hardware, int64_t at)
{
    const told *best = NULL;
    uint64_t best_kind = NM_MEMORY_DDR;

    for (int i = 0; i < model.sample_count; i++) {
        const told *one = &model.samples[i];
        uint64_t kind = one->kind == UINT64_MAX ? best_kind : one->kind;

        if (one->who != hardware || one->seq > at || one->b == 0 || (best != NULL && kind < best_kind))
            continue;
        best = one;
        best_kind = kind;
    }
    return best;
}

static bool is_stale(int hardware, const told *sample, int64_t at, bool is_end)
{
    for (int64_t event = sample == NULL ? at : sample->seq; ++event <= at;)
        if (changes(hardware, event) || (!is_end && goes_with_process(hardware, event)))
            return true;
    return false;
}

/* The sample of a moment: the last one before, unless that is stale and a later one is not. */
static const told *sample_of(int hardware, int64_t at, bool is_end, bool *stale)
{
    const told *sample = sample_at(hardware, at);

    *stale = is_stale(hardware, sample, at, is_end);
    if (is_end || (sample != NULL && !*stale))
        return sample;
    for (int64_t later = at + 1; later <= until(hardware, at); later++) {
        const told *next = sample_at(hardware, later);

        if (next != sample) {
            *stale = false;
            return next;
        }
    }
    return sample;
}

static int64_t usage_of(int device, int module, int64_t at)
{
    int64_t bytes = -1;

    for (int i = 0; i < model.usage_count; i++)
        if (model.usages[i].who == device && model.usages[i].module == module && model.usages[i].seq <= at)
            bytes = (int64_t)model.usages[i].a;
    return bytes;
}

static bool is_told_ever(int device, int module)
{
    return usage_of(device, module, NEVER) >= 0;
}

static bool is_used(int device, int64_t at)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (figures_at((uint64_t)heap_of(device, kind), at).has_held)
            return true;
    return false;
}

/* Is the device part of a moment that concerns its hardware? */
static bool is_part(int device, int64_t at, bool is_end)
{
    int64_t end = model.end_of[process_of[device]];
    const told *sample = sample_at(hardware_of[device], at);

    if (!is_used(device, at))
        return false;
    return is_end ? sample == NULL || end > sample->seq : end > at;
}

typedef struct components {
    int64_t pools[3], is_stated[3], is_at_least[3], has_pool[3];
    int64_t app, hccl, physical, rounding, sum;
    bool is_app_estimate;
} components;

static int64_t at_least_0(int64_t value)
{
    return value > 0 ? value : 0;
}

static components components_at(int device, int64_t at)
{
    components out = {0};
    figures own = figures_at((uint64_t)heap_of(device, OWN), at);
    figures hccl = figures_at((uint64_t)heap_of(device, HCCL), at);
    figures physical = figures_at((uint64_t)heap_of(device, PHYSICAL), at);
    int64_t stated = 0;

    for (int i = 0; i < 3; i++) {
        figures pool = figures_at((uint64_t)heap_of(device, PTA + i), at);

        out.pools[i] = pool.reserved;
        out.is_stated[i] = pool.is_stated;
        out.is_at_least[i] = pool.is_unseen && pool.live > 0;
        out.has_pool[i] = pool.has_held;
        out.sum += pool.reserved;
        stated += pool.is_stated ? pool.reserved : 0;
        out.is_app_estimate |= pool.is_stated;
    }
    out.app = at_least_0(own.live - own.segment - stated);
    out.hccl = hccl.live - hccl.segment;
    out.physical = at_least_0(physical.live - own.mapped);
    out.rounding = own.page - own.live + hccl.page - hccl.live + physical.page - physical.live;
    out.sum += out.app + out.hccl + out.physical + out.rounding;
    return out;
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static char wanted[TEXT_BYTES];

static void want(int device, const char *component, const char *heap, int64_t bytes, bool has_bytes, int64_t runtime,
                 bool estimate)
{
    char number[2][32] = {"-", "-"};
    size_t length = strlen(wanted);

    if (has_bytes)
        snprintf(number[0], sizeof number[0], "%" PRId64, bytes);
    if (runtime >= 0)
        snprintf(number[1], sizeof number[1], "%" PRId64, runtime);
    snprintf(wanted + length, sizeof wanted - length, "%d|%d|%s|%s|%s|%s|%d\n", process_of[device], hardware_of[device],
             component, heap == NULL ? "-" : heap, number[0], number[1], estimate);
}

/* What the processes that are there take of the hardware. */
static int64_t recorded_at(int hardware, int64_t at, bool is_end)
{
    int64_t sum = 0;

    for (int device = 1; device <= DEVICES; device++)
        if (hardware_of[device] == hardware && is_part(device, at, is_end))
            sum += components_at(device, at).sum;
    return sum;
}

/* What the process's memory took of the device when the runtime spoke last. */
static int64_t recorded_at_usage(int device, int64_t last)
{
    int64_t sum = 0;

    for (int i = 0; i < model.usage_count; i++)
        if (model.usages[i].who == device && model.usages[i].seq <= last)
            sum = components_at(device, model.usages[i].seq).sum;
    return sum;
}

static void want_rest(int device, int64_t at, bool is_end, int64_t own_sum, int64_t runtime, int64_t runtime_sum)
{
    bool stale, has_others = false, is_old = runtime >= 0 && runtime_sum != own_sum;
    int hardware = hardware_of[device];
    const told *sample = sample_of(hardware, at, is_end, &stale);
    int64_t used = sample == NULL ? 0 : (int64_t)sample->b - (int64_t)sample->a;
    int64_t others = 0, foreign = 0;

    if (sample != NULL && stale)
        used = at_least_0(used + recorded_at(hardware, at, is_end) - recorded_at(hardware, sample->seq, false));

    for (int other = 1; other <= DEVICES; other++)
        if (other != device && hardware_of[other] == hardware && is_part(other, at, is_end)) {
            has_others = true;
            others += components_at(other, at).sum;
        }
    if (has_others)
        want(device, "RECORDED PROCESSES", NULL, others, true, -1, false);
    if (sample != NULL && runtime >= 0) {
        foreign = at_least_0(used - own_sum - others - (runtime - runtime_sum));
        want(device, "OTHER PROCESSES", NULL, foreign, true, -1, stale || is_old);
    }
    want(device, "UNEXPLAINED", NULL, used - own_sum - others - foreign, sample != NULL, -1,
         stale || runtime < 0 || is_old);
    want(device, "DEVICE USED", NULL, used, sample != NULL, runtime, stale);
}

static void want_device(int device, int64_t at, bool is_end)
{
    static const char *const names[] = {"POOL", "POOL", "WORKSPACE"};
    components own = components_at(device, at);
    int64_t last = is_end ? seq - 1 : until(hardware_of[device], at);
    int64_t runtime = -1;

    for (int i = 0; i < 3; i++)
        if (own.has_pool[i])
            want(device, names[i], kinds[PTA + i].name, own.pools[i], true, -1, own.is_stated[i] || own.is_at_least[i]);
    want(device, "APP", NULL, own.app, true, usage_of(device, 0, last), own.is_app_estimate);
    want(device, "HCCL", NULL, own.hccl, true, usage_of(device, 1, last), false);
    if (is_told_ever(device, 2))
        want(device, "RUNTIME", NULL, 0, true, usage_of(device, 2, last), false);
    want(device, "PHYSICAL", NULL, own.physical, true, -1, false);
    want(device, "PAGE ROUNDING", NULL, own.rounding, true, -1, false);
    for (int module = 0; module < 3; module++) {
        int64_t bytes = usage_of(device, module, last);

        if (bytes >= 0)
            runtime = (runtime < 0 ? 0 : runtime) + bytes;
    }
    want_rest(device, at, is_end, own.sum, runtime, recorded_at_usage(device, last));
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same lines in order. */
static void sort_lines(char *text)
{
    char *copy = strdup(text), *lines[512];
    size_t count = 0;

    for (char *line = strtok(copy, "\n"); line != NULL; line = strtok(NULL, "\n"))
        lines[count++] = line;
    ck_assert_uint_lt(count, 512);
    qsort(lines, count, sizeof *lines, compare_lines);
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        text += sprintf(text, "%s\n", lines[i]);
    free(copy);
}

/* Which hardware a moment concerns: of its heap, its device, or its process's devices; all at the end. */
static bool concerns(int hardware, int kind, int process, int heap, int device)
{
    if (kind == NM_MOMENT_END)
        return true;
    if (kind == NM_MOMENT_PEAK || kind == NM_MOMENT_RESERVE)
        return heap != PINNED && hardware_of[device_of((uint64_t)heap)] == hardware;
    if (kind == NM_MOMENT_DEVICE_PEAK)
        return hardware_of[device] == hardware;
    for (int one = 1; one <= DEVICES; one++)
        if (hardware_of[one] == hardware && process_of[one] == process)
            return true;
    return false;
}

static void compare_components(sqlite3 *db, sqlite3_stmt *moment)
{
    int kind = sqlite3_column_int(moment, 1);
    int64_t at = sqlite3_column_type(moment, 5) == SQLITE_NULL ? -1 : sqlite3_column_int64(moment, 5);
    char sql[512];
    char *got;

    wanted[0] = 0;
    for (int device = 1; device <= DEVICES; device++)
        if (concerns(hardware_of[device], kind, sqlite3_column_int(moment, 2), sqlite3_column_int(moment, 3),
                     sqlite3_column_int(moment, 4)) &&
            is_part(device, at, kind == NM_MOMENT_END))
            want_device(device, at, kind == NM_MOMENT_END);
    snprintf(sql, sizeof sql,
             "SELECT pid, device, component, heap, bytes, runtime_bytes, is_estimate FROM device_memory WHERE moment_id"
             " = %d",
             sqlite3_column_int(moment, 0));
    got = load_rows(db, sql);
    sort_lines(wanted);
    sort_lines(got);
    ck_assert_msg(strcmp(got, wanted) == 0, "moment %d, kind %d, event %" PRId64 "\nwanted\n%sgot\n%s",
                  sqlite3_column_int(moment, 0), kind, at, wanted, got);
    free(got);
}

/* The heap's last row at or before the moment. */
static void compare_heap(sqlite3 *db, uint64_t heap, int64_t at)
{
    figures want = figures_at(heap, at);
    char sql[512], expected[256] = "";
    char *got;

    snprintf(sql, sizeof sql,
             "SELECT live_bytes, live_count, page_bytes, mapped_bytes, segment_bytes, reserved_bytes, is_stated FROM"
             " z_heap_sample WHERE heap_id = %" PRIu64 " AND since_seq <= %" PRId64 " ORDER BY since_seq DESC LIMIT 1",
             heap, at);
    if (want.has_held)
        snprintf(expected, sizeof expected,
                 "%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "\n", want.live,
                 want.count, want.page, want.mapped, want.segment, want.reserved, want.is_stated);
    got = load_rows(db, sql);
    ck_assert_msg(strcmp(got, expected) == 0, "heap %" PRIu64 ", event %" PRId64 ": wanted %s, got %s", heap, at,
                  expected, got);
    free(got);
}

static void compare_heaps(sqlite3 *db, sqlite3_stmt *moment)
{
    int kind = sqlite3_column_int(moment, 1);
    int64_t at = sqlite3_column_type(moment, 5) == SQLITE_NULL ? -1 : sqlite3_column_int64(moment, 5);
    bool is_pinned = kind == NM_MOMENT_END || (kind == NM_MOMENT_PEAK && sqlite3_column_int(moment, 3) == PINNED) ||
                     ((kind == NM_MOMENT_MARK || kind == NM_MOMENT_FAILURE) && sqlite3_column_int(moment, 2) == 1);

    for (uint64_t heap = 1; heap < PINNED; heap++)
        if (concerns(hardware_of[device_of(heap)], kind, sqlite3_column_int(moment, 2), sqlite3_column_int(moment, 3),
                     sqlite3_column_int(moment, 4)))
            compare_heap(db, heap, at);
    if (is_pinned)
        compare_heap(db, PINNED, at);
}

/* Two devices that cannot be told apart are left out: that is nonsense, too. */
static void assert_adds_up(sqlite3 *db)
{
    static const char sql[] =
        "SELECT count(*) FROM (SELECT moment_id, pid, device FROM device_memory GROUP BY moment_id, pid, device"
        " HAVING sum(CASE component WHEN 'DEVICE USED' THEN -bytes ELSE bytes END) <> 0"
        " AND max(component = 'DEVICE USED' AND bytes IS NOT NULL) AND sum(component = 'DEVICE USED') = 1)";

    ck_assert_int_eq(load_int(db, sql), 0);
}

static void compare(void)
{
    sqlite3 *db = load_open(path);
    sqlite3_stmt *moment = NULL;

    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT moment_id, kind, process_id, heap_id, device_id, seq FROM moment",
                                        -1, &moment, NULL),
                     SQLITE_OK);
    while (sqlite3_step(moment) == SQLITE_ROW) {
        compare_heaps(db, moment);
        compare_components(db, moment);
    }
    sqlite3_finalize(moment);
    assert_adds_up(db);
    sqlite3_close(db);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void define(nm_definition definition)
{
    nm_record record = {.kind = NM_RECORD_DEFINITION, .definition = definition};

    ck_assert_int_eq(nm_replay_record(replay, &record, &err), NM_OK);
}

static void define_string(uint64_t id, const char *text)
{
    define((nm_definition){.kind = NM_DEFINE_STRING, .id = id, .string = {(const uint8_t *)text, strlen(text)}});
}

static void define_all(void)
{
    for (uint64_t module = 0; module < 3; module++)
        define_string(module + 1, modules[module]);
    for (uint64_t kind = 0; kind < KINDS; kind++)
        define_string(10 + kind, kinds[kind].name);
    for (uint64_t id = 1; id <= PROCESSES; id++) {
        define((nm_definition){.kind = NM_DEFINE_PROCESS, .id = id, .process = {.pid = (int64_t)id}});
        define((nm_definition){.kind = NM_DEFINE_THREAD, .id = id, .thread.process_id = id});
    }
    for (int device = 1; device <= DEVICES; device++) {
        define((nm_definition){.kind = NM_DEFINE_DEVICE,
                               .id = (uint64_t)device,
                               .device = {.process_id = (uint64_t)process_of[device],
                                          .ordinal = device,
                                          .physical_ordinal = hardware_of[device]}});
        for (int kind = 0; kind < KINDS; kind++)
            define((nm_definition){.kind = NM_DEFINE_HEAP,
                                   .id = (uint64_t)heap_of(device, kind),
                                   .heap = {.process_id = (uint64_t)process_of[device],
                                            .device_id = (uint64_t)device,
                                            .level = kinds[kind].level,
                                            .name = (uint64_t)(10 + kind),
                                            .size_basis = NM_BASIS_REQUESTED,
                                            .module_id = kinds[kind].module}});
    }
    define((nm_definition){
        .kind = NM_DEFINE_HEAP, .id = PINNED, .heap = {.process_id = 1, .level = NM_LEVEL_PINNED, .size_basis = 1}});
}

static void run_trace(void)
{
    nm_store_options options = {.is_forced = true, .input_fd = -1};
    nm_input_row input = load_whole_input(EVENTS);

    memset(&model, 0, sizeof model);
    for (int process = 1; process <= PROCESSES; process++)
        model.end_of[process] = NEVER;
    seq = 0;
    next_address = 8192;
    ck_assert_msg(nm_store_open(path, &options, &store, &err) == NM_OK, "%s", err.text);
    ck_assert_int_eq(nm_replay_new(nm_store_sink(store), nm_passes, &replay, &err), NM_OK);
    define_all();
    for (uint64_t i = pick(5); i > 0; i--)
        do_memory(1 + (int)pick(DEVICES), (int)pick(3), true);
    for (int i = 0; i < EVENTS && seq < EVENTS - 8; i++)
        do_something();
    ck_assert_msg(nm_replay_finish(replay, &err) == NM_OK, "%s", err.text);
    nm_replay_free(replay);
    ck_assert_msg(nm_store_finish(store, &input, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_store_publish(store, &err) == NM_OK, "%s", err.text);
    nm_store_close(store);
    compare();
}

/* ---- Nonsense ---------------------------------------------------------------------------------------------------- */

static uint64_t wild_bytes(void)
{
    return pick(20) == 0 ? UINT64_MAX >> pick(64) : pick(3000);
}

/* Definitions at any time, and again; but a thing stays where it is, as they must: it follows from its number. */
static void define_nonsense(uint64_t shift)
{
    static const uint64_t kinds_of[] = {NM_DEFINE_PROCESS, NM_DEFINE_THREAD, NM_DEFINE_DEVICE, NM_DEFINE_HEAP};
    nm_definition one = {.kind = kinds_of[pick(4)], .id = 1 + pick(5)};
    uint64_t fixed = one.id * 7 + shift;

    if (one.kind == NM_DEFINE_THREAD) {
        one.thread.process_id = 1 + fixed % 3;
    } else if (one.kind == NM_DEFINE_DEVICE) {
        one.device.process_id = 1 + fixed % 3;
        one.device.physical_ordinal = pick(2) == 0 ? NM_UNKNOWN_NUMBER : (int64_t)pick(2);
    } else if (one.kind == NM_DEFINE_HEAP) {
        one.heap.device_id = fixed / 5 % 6;
        one.heap.process_id = 1 + (one.heap.device_id * 7 + shift) % 3; /* its device's */
        one.heap.level = fixed / 2 % 10;
        one.heap.module_id = fixed / 4 % 2 * (fixed % 50);
    }
    define(one);
}

static void give_nonsense(uint64_t at)
{
    static const uint64_t all[] = {
        NM_EVENT_ALLOC, NM_EVENT_ALLOC,        NM_EVENT_FREE,          NM_EVENT_MAP,
        NM_EVENT_UNMAP, NM_EVENT_RESET,        NM_EVENT_RESERVED,      NM_EVENT_MARK,
        NM_EVENT_ALLOC, NM_EVENT_MAP,          NM_EVENT_MODULE_SAMPLE, NM_EVENT_MEMORY_SAMPLE,
        NM_EVENT_STEP,  NM_EVENT_ALLOC_FAILED, NM_EVENT_PROCESS_END,   NM_EVENT_FREE_FAILED};
    static const uint64_t flags[] = {0, 0, 0, 0, 0, 0, NM_FLAG_TOTAL, NM_FLAG_SEGMENT, NM_FLAG_LATE};
    uint64_t kind = all[pick(16)];
    nm_record record = {.kind = NM_RECORD_EVENT,
                        .event = {.seq = at,
                                  .kind = kind == NM_EVENT_PROCESS_END && pick(5) != 0 ? NM_EVENT_FREE : kind,
                                  .time_ns = (int64_t)at,
                                  .flags = flags[pick(9)],
                                  .thread_id = pick(6),
                                  .heap_id = pick(6),
                                  .address = 4096 * (1 + pick(20)),
                                  .requested_bytes = wild_bytes(),
                                  .block_bytes = wild_bytes(),
                                  .number = (int64_t)pick(5),
                                  .name_id = pick(4),
                                  .detail = pick(3),
                                  .device_id = pick(6),
                                  .size_bytes = wild_bytes(),
                                  .free_bytes = wild_bytes(),
                                  .total_bytes = wild_bytes()}};

    ck_assert_msg(nm_replay_record(replay, &record, &err) == NM_OK, "%s", err.text);
}

START_TEST(nonsense_loads_and_adds_up)
{
    uint64_t seed = seed_of_test(1);
    nm_store_options options = {.is_forced = true, .input_fd = -1};

    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
    for (uint64_t i = 0; i < TRACES; i++) {
        nm_input_row input = load_whole_input(EVENTS);
        sqlite3 *db;

        random_state = (seed + i) * 0x9E3779B97F4A7C15u + 1;
        ck_assert_msg(nm_store_open(path, &options, &store, &err) == NM_OK, "%s", err.text);
        ck_assert_int_eq(nm_replay_new(nm_store_sink(store), nm_passes, &replay, &err), NM_OK);
        for (uint64_t module = 0; module < 3; module++)
            define_string(module + 1, modules[module]);
        for (uint64_t id = 1; id <= 3; id++)
            define((nm_definition){.kind = NM_DEFINE_PROCESS, .id = id, .process = {.pid = (int64_t)id}});
        uint64_t shift = pick(1000);
        for (uint64_t id = 1; id <= 5; id++) /* a heap comes after its device */
            define((nm_definition){
                .kind = NM_DEFINE_DEVICE,
                .id = id,
                .device = {.process_id = 1 + (id * 7 + shift) % 3, .physical_ordinal = NM_UNKNOWN_NUMBER}});
        for (int n = 0; n < 20; n++)
            define_nonsense(shift);
        for (uint64_t at = 0; at < EVENTS; at++) {
            if (pick(20) == 0)
                define_nonsense(shift);
            give_nonsense(at);
        }
        ck_assert_msg(nm_replay_finish(replay, &err) == NM_OK, "%s", err.text);
        nm_replay_free(replay);
        ck_assert_msg(nm_store_finish(store, &input, &err) == NM_OK, "%s", err.text);
        ck_assert_msg(nm_store_publish(store, &err) == NM_OK, "%s", err.text);
        nm_store_close(store);
        db = load_open(path);
        assert_adds_up(db);
        sqlite3_close(db);
    }
    run_remove_folder(folder);
}
END_TEST

START_TEST(moments_hold_what_the_obvious_model_holds)
{
    uint64_t seed = seed_of_test(1);

    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
    for (uint64_t i = 0; i < TRACES; i++) {
        random_state = (seed + i) * 0x9E3779B97F4A7C15u + 1;
        run_trace();
    }
    run_remove_folder(folder);
}
END_TEST

TEST_SUITE(test_device_oracle)
{
    Suite *suite = suite_create("devices against a slow model");
    TCase *tests = tcase_create("oracle");

    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, moments_hold_what_the_obvious_model_holds);
    tcase_add_test(tests, nonsense_loads_and_adds_up);
    suite_add_tcase(suite, tests);
    return suite;
}
