/* SPDX-License-Identifier: Apache-2.0
 *
 * Misuse against a slow search: random traces of two processes with several devices and heaps, in which legal traffic and
 * every kind of mistake are mixed, with losses, pauses and late starts. All that ever lived is kept in one array. Each
 * event is judged by walking all of it, byte ranges are compared as they are, and the list of anomalies that comes out is
 * compared with the table as a whole: so what is missing, what is too much and what has the wrong second site shows.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows/rows.h"
#include "support/draft.h"
#include "support/load_text.h"
#include "support/seed.h"
#include "support/suites.h"

#define RUNS         100
#define ACTS         350
#define PROCESSES    2
#define DEVICE_ONE   0x100000
#define DEVICE_TWO   0x200000
#define HOST         0x300000
#define SPAN         0x1000
#define GRANULE      0x10
#define STACKS       6
#define LATE_FREE_NS 10000000
#define ROW_BYTES    320

typedef enum place_kind {
    DRIVER,
    MANAGED,
    DRIVER_TWO,
    POOL,
    INNER_POOL,
    PINNED,
    REGISTERED,
    PHYSICAL,
    HEAPS
} place_kind;
typedef enum end_kind { LIVE, FREED, REPLACED, UNMAPPED } end_kind;
typedef enum call { CALL_HEAP, CALL_DEVICE, CALL_HOST, CALL_REGISTERED, CALLS } call;

/* Something that was allocated or mapped. */
typedef struct memory {
    int id, process, heap; /* id: number of the row; heap: place_kind */
    uint64_t from, requested, block;
    bool is_mapped, is_late;
    int thread, stack;
    int64_t birth, end; /* numbers of the events */
    end_kind how;
    int end_thread, end_stack;
    int owner; /* of driver memory: the pool that cut it up, or -1 */
} memory;

typedef struct waiting { /* an overlap: its old memory may still be freed by another thread */
    char row[ROW_BYTES];
    int old, thread;
    int64_t ns;
    bool is_replacement, is_done;
} waiting;

typedef struct process {
    bool is_late, has_loss, has_unknown_pause, had_driver_memory;
    int64_t pause_end; /* of the last pause of which nothing is known */
    int streams[ACTS], stream_stacks[ACTS], stream_count;
    int gone_streams[ACTS], gone_stacks[ACTS], gone_count; /* that were destroyed */
} process;

/* An event, as far as the judging of it needs. */
typedef struct event {
    int process, thread, stack, heap; /* heap: place_kind or -1 */
    uint64_t address;
    bool is_late;
} event;

static memory memories[4 * ACTS];
static waiting waits[4 * ACTS];
static process processes[PROCESSES];
static char rows[8 * ACTS][ROW_BYTES];
static int memory_count, wait_count, row_count, copy_count, next_stream;
static int64_t now, number; /* number: of the event that is being made */
static uint64_t kind_counts[16];

static int heap_id(int owner, int heap)
{
    return 1 + owner * HEAPS + heap;
}

static int thread_id(int owner, int thread)
{
    return 1 + owner * 2 + thread;
}

/* ---- What is where ---- */

/* Heaps of one number have one space of addresses, and are searched together. */
static int space_of(int heap)
{
    return heap == MANAGED ? DRIVER : heap;
}

static bool is_pool(int heap)
{
    return heap == POOL || heap == INNER_POOL;
}

static bool is_driver(int heap)
{
    return heap == DRIVER || heap == MANAGED || heap == DRIVER_TWO;
}

static uint64_t size_of(const memory *one)
{
    bool by_block = one->heap != PINNED && one->heap != REGISTERED;

    if (by_block)
        return one->block != 0 ? one->block : one->requested;
    return one->requested != 0 ? one->requested : one->block;
}

static uint64_t own_end(const memory *one) /* of what was asked for */
{
    return one->from + (one->requested != 0 ? one->requested : one->block);
}

static uint64_t end_of(const memory *one) /* with padding */
{
    return one->from + size_of(one);
}

static uint64_t certain_end(const memory *one)
{
    return own_end(one) < end_of(one) ? own_end(one) : end_of(one);
}

static bool holds(const memory *one, uint64_t address)
{
    return one->from <= address && address < end_of(one);
}

static bool is_live_in(const memory *one, int owner, int space)
{
    return one->how == LIVE && one->process == owner && space_of(one->heap) == space;
}

static bool is_before(const memory *a, const memory *b) /* by address, then by age */
{
    return a->from < b->from || (a->from == b->from && a->id < b->id);
}

/* The live memory of the space that holds the address; of several, the last by address. */
static memory *holder(int owner, int space, uint64_t address)
{
    memory *best = NULL;

    for (int i = 0; i < memory_count; i++)
        if (is_live_in(&memories[i], owner, space) && holds(&memories[i], address) &&
            (best == NULL || is_before(best, &memories[i])))
            best = &memories[i];
    return best;
}

static memory *next_of(const memory *one)
{
    memory *best = NULL;

    for (int i = 0; i < memory_count; i++)
        if (is_live_in(&memories[i], one->process, space_of(one->heap)) && is_before(one, &memories[i]) &&
            (best == NULL || is_before(&memories[i], best)))
            best = &memories[i];
    return best;
}

/* The last before it that reaches over its begin. */
static memory *reaching(const memory *one)
{
    memory *best = NULL;

    for (int i = 0; i < memory_count; i++)
        if (is_live_in(&memories[i], one->process, space_of(one->heap)) && is_before(&memories[i], one) &&
            end_of(&memories[i]) > one->from && (best == NULL || is_before(best, &memories[i])))
            best = &memories[i];
    return best;
}

/* What ended last at the address, unless its heap has handed the address out again. */
static memory *ended_at(int owner, uint64_t address)
{
    memory *best = NULL;

    for (int i = 0; i < memory_count; i++)
        if (memories[i].process == owner && memories[i].from == address && memories[i].how != LIVE &&
            (best == NULL || memories[i].end > best->end))
            best = &memories[i];
    for (int i = 0; i < memory_count && best != NULL; i++)
        if (memories[i].process == owner && memories[i].from == address && memories[i].heap == best->heap &&
            memories[i].birth >= best->end)
            return NULL;
    return best;
}

/* Has the driver taken the address back after `since`, from no pool? */
static bool was_taken_back(int owner, uint64_t address, int64_t since)
{
    for (int i = 0; i < memory_count; i++)
        if (memories[i].process == owner && is_driver(memories[i].heap) && memories[i].owner < 0 &&
            (memories[i].how == FREED || memories[i].how == UNMAPPED) && holds(&memories[i], address) &&
            memories[i].end > since)
            return true;
    return false;
}

/* The last end of device memory that held the address. */
static memory *ended_around(int owner, bool of_pools, uint64_t address)
{
    memory *best = NULL;

    for (int i = 0; i < memory_count; i++) {
        memory *one = &memories[i];

        if (one->process == owner && (of_pools ? is_pool(one->heap) : is_driver(one->heap)) &&
            (one->how == FREED || one->how == UNMAPPED) && holds(one, address) &&
            (best == NULL || one->end > best->end))
            best = one;
    }
    return best != NULL && of_pools && was_taken_back(owner, address, best->end) ? NULL : best;
}

/* ---- What may be said ---- */

static bool is_in_doubt(const event *what)
{
    return what->is_late || processes[what->process].has_loss;
}

static bool has_unseen_memory(int owner)
{
    return processes[owner].is_late || processes[owner].has_unknown_pause;
}

static bool may_have_changed(int owner, int64_t since)
{
    return processes[owner].has_unknown_pause && since <= processes[owner].pause_end;
}

static const char *number_or_null(char out[32], uint64_t value)
{
    snprintf(out, 32, "%" PRIu64, value);
    return value == 0 ? "-" : out;
}

/* The row as the comparison reads it. `about`: the memory whose number the row has; heap: place_kind or -1. */
static void write_row(char out[ROW_BYTES], const event *what, int kind, int heap, uint64_t address, uint64_t size,
                      const memory *about, int other_stack)
{
    char cells[6][32];

    snprintf(out, ROW_BYTES, "%06" PRId64 "|%d|%d|%d|%s|%s|%s|%s|%s|%s", number, kind, what->process + 1,
             thread_id(what->process, what->thread),
             number_or_null(cells[0], heap < 0 ? 0 : (uint64_t)heap_id(what->process, heap)),
             number_or_null(cells[1], address), number_or_null(cells[2], size),
             number_or_null(cells[3], about == NULL ? 0 : (uint64_t)about->id),
             number_or_null(cells[4], (uint64_t)what->stack), number_or_null(cells[5], (uint64_t)other_stack));
}

static void predict(const char *row, int kind)
{
    snprintf(rows[row_count++], ROW_BYTES, "%.*s", ROW_BYTES - 1, row);
    kind_counts[kind]++;
}

static void tell(const event *what, int kind, int heap, uint64_t address, uint64_t size, const memory *about,
                 int other_stack)
{
    char row[ROW_BYTES];

    write_row(row, what, kind, heap, address, size, about, other_stack);
    predict(row, kind);
}

/* ---- Overlaps ---- */

static void resolve(waiting *one)
{
    if (!one->is_done && one->row[0] != '\0' && !processes[memories[one->old].process].has_loss)
        predict(one->row, NM_ANOMALY_OVERLAP);
    one->is_done = true;
}

static void resolve_until(int64_t ns)
{
    for (int i = 0; i < wait_count; i++)
        if (waits[i].ns < ns - LATE_FREE_NS)
            resolve(&waits[i]);
}

static waiting *wait_for(const memory *old, const event *what)
{
    waits[wait_count] = (waiting){.old = (int)(old - memories), .thread = what->thread, .ns = now};
    return &waits[wait_count++];
}

/* Bytes of both that are neither padding. */
static bool share(const memory *a, const memory *b)
{
    for (uint64_t at = a->from; at < certain_end(a); at++)
        if (b->from <= at && at < certain_end(b))
            return true;
    return false;
}

static bool is_inside(const memory *a, const memory *b)
{
    return b->from <= a->from && certain_end(a) <= certain_end(b);
}

static void judge_overlap(memory *old, const memory *made, const event *what)
{
    uint64_t first, end;

    if (old == NULL || !share(old, made) ||
        (old->heap != made->heap && (is_inside(old, made) || is_inside(made, old))) || old->is_late ||
        may_have_changed(old->process, old->birth))
        return;
    first = old->from > made->from ? old->from : made->from;
    end = certain_end(old) < certain_end(made) ? certain_end(old) : certain_end(made);
    write_row(wait_for(old, what)->row, what, NM_ANOMALY_OVERLAP, made->heap, first, end - first, made, old->stack);
}

/* ---- Beginning ---- */

static event begin_event(int owner, int heap, uint64_t address)
{
    event made = {
        .process = owner, .thread = rand() % 2, .stack = rand() % (STACKS + 1), .heap = heap, .address = address};

    made.is_late = rand() % 60 == 0;
    number++;
    now += rand() % 5 == 0 ? rand() % 6000000 : 1000;
    resolve_until(now);
    draft_say("@%" PRId64 " ", now);
    return made;
}

static void end_line(const event *what)
{
    draft_say(" thread=%d", thread_id(what->process, what->thread));
    if (what->stack != 0)
        draft_say(" stack=%d", what->stack);
    draft_say("%s\n", what->is_late ? " late" : "");
}

static void end_memory(memory *one, end_kind how, const event *what)
{
    one->how = how;
    one->end = number;
    one->end_thread = what->thread;
    one->end_stack = what->stack;
    for (int i = 0; i < wait_count && how != REPLACED; i++)
        if (memories + waits[i].old == one && !waits[i].is_replacement && waits[i].thread != what->thread)
            waits[i].is_done = true;
}

static void replace(memory *old, const memory *made, const event *what)
{
    bool is_told = !made->is_late && !may_have_changed(old->process, old->birth) && !old->is_late;
    waiting *wait;

    for (int i = 0; i < wait_count; i++)
        if (waits[i].is_replacement && memories[waits[i].old].process == old->process &&
            memories[waits[i].old].from == old->from)
            resolve(&waits[i]);
    end_memory(old, REPLACED, what);
    wait = wait_for(old, what);
    wait->is_replacement = true;
    write_row(wait->row, what, NM_ANOMALY_OVERLAP, old->heap, old->from, size_of(old), made, old->stack);
    if (!is_told) /* a free of it is still waited for, but nothing will be said */
        wait->row[0] = '\0';
}

/* Driver memory that a block lies in, from its begin on without a hole, is the pool's. */
static void take_segments(const memory *block)
{
    memory *range = holder(block->process, DRIVER, block->from);

    while (range != NULL) {
        memory *next = next_of(range);

        if (range->owner < 0)
            range->owner = block->heap;
        if (next == NULL || next->from != end_of(range) || end_of(range) >= end_of(block))
            break;
        range = next;
    }
}

static void allocate(int owner, int heap, uint64_t address, uint64_t requested, uint64_t block, bool is_mapped)
{
    event what = begin_event(owner, heap, address);
    memory *made = &memories[memory_count];

    *made = (memory){memory_count + 1, owner,      heap,   address, requested, block, is_mapped, what.is_late,
                     what.thread,      what.stack, number, -1,      LIVE,      0,     0,         -1};
    memory_count++;
    draft_say("%s heap=%d address=0x%" PRIx64, is_mapped ? "map" : "alloc", heap_id(owner, heap), address);
    if (requested != 0)
        draft_say(" requested=%" PRIu64, requested);
    if (block != 0)
        draft_say(" block=%" PRIu64, block);
    end_line(&what);
    for (int i = 0; i < memory_count - 1; i++)
        if (memories[i].how == LIVE && memories[i].process == owner && memories[i].heap == heap &&
            memories[i].from == address)
            replace(&memories[i], made, &what);
    processes[owner].had_driver_memory |= is_driver(heap);
    if (is_pool(heap))
        take_segments(made);
    if (requested == 0 && block == 0 && (is_driver(heap) || heap == PINNED) && !is_in_doubt(&what))
        tell(&what, NM_ANOMALY_ZERO_SIZE, heap, address, 0, NULL, 0);
    if (heap == REGISTERED || heap == PHYSICAL || is_in_doubt(&what))
        return;
    judge_overlap(reaching(made), made, &what);
    judge_overlap(next_of(made), made, &what);
}

/* ---- Ending ---- */

/* How badly the memory fits the call; 4: not at all. */
static int misfit(int heap, int how)
{
    static const int misfits[HEAPS][CALLS] = {
        [DRIVER] = {4, 0, 3, 4},     [MANAGED] = {4, 0, 3, 4}, [DRIVER_TWO] = {4, 0, 3, 4}, [POOL] = {4, 4, 4, 4},
        [INNER_POOL] = {4, 4, 4, 4}, [PINNED] = {4, 1, 0, 4},  [REGISTERED] = {4, 3, 2, 0}, [PHYSICAL] = {4, 4, 4, 4},
    };

    return misfits[heap][how];
}

static bool fits(int heap, const event *what, int how)
{
    return what->heap >= 0 ? heap == what->heap : misfit(heap, how) < 4;
}

static memory *freed_by(const event *what, int how)
{
    memory *best = NULL;

    for (int i = memory_count - 1; i >= 0; i--) {
        memory *one = &memories[i];

        if (one->how == LIVE && one->process == what->process && one->from == what->address &&
            fits(one->heap, what, how) &&
            (best == NULL || (what->heap < 0 && misfit(one->heap, how) < misfit(best->heap, how))))
            best = one;
    }
    return best;
}

/* The free of what was replaced here, by another thread than the one that replaced it? */
static bool explains_replacement(const event *what, int how)
{
    waiting *last = NULL;

    for (int i = 0; i < wait_count; i++)
        if (waits[i].is_replacement && memories[waits[i].old].process == what->process &&
            memories[waits[i].old].from == what->address)
            last = &waits[i];
    if (last == NULL || last->is_done || last->thread == what->thread || !fits(memories[last->old].heap, what, how))
        return false;
    return last->is_done = true;
}

/* The live memory around an address at which nothing begins that the call could free. */
static memory *around(const event *what, int how)
{
    memory *found = NULL;

    if (what->heap >= 0)
        return holder(what->process, space_of(what->heap), what->address);
    if (how == CALL_DEVICE)
        found = holder(what->process, DRIVER, what->address);
    if (how == CALL_DEVICE && found == NULL)
        found = holder(what->process, DRIVER_TWO, what->address);
    if (how == CALL_HOST)
        found = holder(what->process, PINNED, what->address);
    return how == CALL_REGISTERED ? holder(what->process, REGISTERED, what->address) : found;
}

static void judge_unknown_free(const event *what, int how)
{
    int kind = how == CALL_REGISTERED ? NM_ANOMALY_UNREGISTER_UNKNOWN : NM_ANOMALY_FREE_UNKNOWN;
    bool of_pools = what->heap >= 0 && is_pool(what->heap);
    memory *one = ended_at(what->process, what->address);

    if (one != NULL && fits(one->heap, what, how) && !may_have_changed(what->process, one->end)) {
        tell(what, NM_ANOMALY_DOUBLE_FREE, one->heap, what->address, 0, one, one->end_stack);
        return;
    }
    if (has_unseen_memory(what->process))
        return;
    one = around(what, how);
    if (one == NULL && how == CALL_REGISTERED)
        one = holder(what->process, PINNED, what->address);
    if (one != NULL) {
        tell(what, kind, one->heap, what->address, 0, one, one->stack);
        return;
    }
    if (how == CALL_HEAP || how == CALL_DEVICE)
        one = ended_around(what->process, of_pools, what->address);
    if (one != NULL && what->heap >= 0 && one->heap != what->heap)
        one = NULL;
    tell(what, one != NULL && one->from == what->address ? NM_ANOMALY_DOUBLE_FREE : kind,
         one == NULL ? what->heap : one->heap, what->address, 0, one, one == NULL ? 0 : one->end_stack);
}

static void release(int owner, int heap, int how, uint64_t address)
{
    static const char *const words[] = {"", " detail=device", " detail=host", " detail=registered"};
    event what = begin_event(owner, how == CALL_HEAP ? heap : -1, address);
    bool is_host = heap == PINNED;
    memory *one;

    draft_say("free address=0x%" PRIx64 "%s", address, words[how]);
    if (how == CALL_HEAP)
        draft_say(" heap=%d", heap_id(owner, heap));
    end_line(&what);
    if (explains_replacement(&what, how))
        return;
    one = freed_by(&what, how);
    if (one == NULL) {
        if (!is_in_doubt(&what))
            judge_unknown_free(&what, how);
        return;
    }
    is_host = one->heap == PINNED || one->heap == REGISTERED;
    if (((how == CALL_DEVICE && is_host) || (how == CALL_HOST && is_driver(one->heap))) && !is_in_doubt(&what) &&
        !may_have_changed(owner, one->birth))
        tell(&what, NM_ANOMALY_WRONG_FREE, one->heap, address, size_of(one), one, one->stack);
    end_memory(one, FREED, &what);
}

static void unmap(int owner, uint64_t address)
{
    event what = begin_event(owner, -1, address);
    memory *one = NULL;

    draft_say("unmap address=0x%" PRIx64, address);
    end_line(&what);
    for (int i = 0; i < memory_count; i++)
        if (memories[i].how == LIVE && memories[i].process == owner && memories[i].from == address &&
            memories[i].is_mapped)
            one = &memories[i];
    if (one != NULL) {
        end_memory(one, UNMAPPED, &what);
        return;
    }
    if (is_in_doubt(&what) || has_unseen_memory(owner))
        return;
    one = around(&what, CALL_DEVICE);
    if (one != NULL) {
        tell(&what, NM_ANOMALY_UNMAP_UNKNOWN, one->heap, address, 0, one, one->stack);
        return;
    }
    one = ended_around(owner, false, address);
    tell(&what, NM_ANOMALY_UNMAP_UNKNOWN, one == NULL ? -1 : one->heap, address, 0, one,
         one == NULL ? 0 : one->end_stack);
}

/* ---- Copies ---- */

typedef struct copy {
    event what;
    const char *kind;
    uint64_t source, target, bytes, limit;
    bool is_async, is_memset;
} copy;

/* Was it done by the copy's own thread, or is the copy not one that somebody may have queued before? */
static bool is_certain(const copy *one, int thread)
{
    return !one->is_async || thread == one->what.thread;
}

static uint64_t limit_of_block(const copy *one, const memory *block)
{
    bool is_judged = (block->requested != 0 || block->block != 0) && !block->is_late &&
                     !may_have_changed(block->process, block->birth) && is_certain(one, block->thread);

    return is_judged ? own_end(block) : UINT64_MAX;
}

static memory *find_block(const copy *one, uint64_t address, uint64_t *end)
{
    memory *outer = holder(one->what.process, POOL, address);
    memory *inner = holder(one->what.process, INNER_POOL, address);
    uint64_t outer_end = outer == NULL ? 0 : limit_of_block(one, outer);
    uint64_t inner_end = inner == NULL ? 0 : limit_of_block(one, inner);

    *end = outer_end >= inner_end ? outer_end : inner_end;
    return outer != NULL && (inner == NULL || outer_end >= inner_end) ? outer : inner;
}

/* The driver's or the host's memory around it, and the end of it and of the mappings that go on without a hole. */
static memory *find_memory(const copy *one, uint64_t address, uint64_t *end)
{
    static const int spaces[] = {PINNED, DRIVER, DRIVER_TWO};
    memory *found = NULL, *last;

    for (int i = 0; i < 3 && found == NULL; i++)
        found = holder(one->what.process, spaces[i], address);
    last = found;
    while (last != NULL && last->is_mapped) {
        memory *next = next_of(last);

        if (next == NULL || next->from != end_of(last) || !next->is_mapped)
            break;
        last = next;
    }
    *end = last == NULL ? 0 : own_end(last);
    return found;
}

static bool is_past(uint64_t address, uint64_t bytes, uint64_t end)
{
    return end != UINT64_MAX && address + bytes > end;
}

/* Memory that was freed and is nobody's now: what ended last, or NULL. */
static memory *find_freed(const copy *one, uint64_t address, const memory *range)
{
    int owner = one->what.process;
    memory *ended = ended_around(owner, true, address);

    for (int i = 0; i < memory_count; i++)
        if (memories[i].how == LIVE && memories[i].process == owner && memories[i].from == address)
            return NULL;
    if (ended == NULL)
        ended = ended_around(owner, false, address);
    if (ended == NULL)
        ended = ended_at(owner, address);
    if (ended == NULL || !(is_pool(ended->heap) || is_driver(ended->heap)) || may_have_changed(owner, ended->end))
        return NULL;
    if (is_pool(ended->heap) && !is_certain(one, ended->end_thread))
        return NULL;
    if (range != NULL && (is_driver(ended->heap) || (range->owner != ended->heap && range->birth > ended->end)))
        return NULL;
    if (is_pool(ended->heap) && holder(owner, ended->heap, address) != NULL)
        return NULL;
    for (int heap = POOL; heap < HEAPS; heap++) {
        memory *other = holder(owner, heap, address);

        if (other != NULL && other->birth > ended->end)
            return NULL;
    }
    return ended;
}

static bool is_nowhere(const copy *one, uint64_t address)
{
    if (has_unseen_memory(one->what.process) || !processes[one->what.process].had_driver_memory)
        return false;
    for (int i = 0; i < memory_count; i++)
        if (memories[i].how == LIVE && memories[i].process == one->what.process && holds(&memories[i], address))
            return false;
    return true;
}

static void judge_side(const copy *one, uint64_t address, char side)
{
    uint64_t block_end, end, last = address + one->bytes;
    memory *block = find_block(one, address, &block_end);
    memory *range = find_memory(one, address, &end);
    memory *freed;
    bool is_whole_segment = range != NULL && range->from == address && (last == end_of(range) || last == end);

    if (block != NULL && is_past(address, one->bytes, block_end) && !is_whole_segment &&
        !(one->is_memset && block->from == address && last == end_of(block))) {
        tell(&one->what, NM_ANOMALY_COPY_PAST_END, block->heap, address, one->bytes, block, block->stack);
        return;
    }
    if (range != NULL && is_past(address, one->bytes, end) && !may_have_changed(range->process, range->birth)) {
        tell(&one->what, NM_ANOMALY_COPY_PAST_END, range->heap, address, one->bytes, range, range->stack);
        return;
    }
    if (side == 'h')
        return;
    freed = find_freed(one, address, range);
    if (freed != NULL)
        tell(&one->what, NM_ANOMALY_USE_AFTER_FREE, freed->heap, address, one->bytes, freed, freed->end_stack);
    else if (range == NULL && side == 'd' && is_nowhere(one, address))
        tell(&one->what, NM_ANOMALY_COPY_UNALLOCATED, -1, address, one->bytes, NULL, 0);
}

static void judge_copy(const copy *one)
{
    uint64_t end;

    if (is_in_doubt(&one->what))
        return;
    if (one->limit != 0 && one->bytes > one->limit) {
        memory *goal = find_block(one, one->target, &end);

        if (goal == NULL)
            goal = find_memory(one, one->target, &end);
        tell(&one->what, NM_ANOMALY_COPY_PAST_END, goal == NULL ? -1 : goal->heap, one->target, one->bytes, goal,
             goal == NULL ? 0 : goal->stack);
        return;
    }
    if (one->bytes == 0)
        return;
    judge_side(one, one->target, one->is_memset ? '?' : one->kind[2]); /* "h2d": source, 2, target */
    if (!one->is_memset)
        judge_side(one, one->source, one->kind[0]);
}

static void transfer(int owner, uint64_t source, uint64_t target, uint64_t bytes)
{
    static const char *const kinds[] = {"h2d", "d2h", "d2d", "h2h", "memset"};
    copy one = {.what = begin_event(owner, -1, target), .source = source, .target = target, .bytes = bytes};

    one.kind = kinds[rand() % 5];
    one.is_memset = strcmp(one.kind, "memset") == 0;
    one.is_async = rand() % 3 == 0;
    one.limit = rand() % 20 == 0 ? (uint64_t)(rand() % 64) : 0;
    copy_count++;
    draft_say("copy address=0x%" PRIx64 " size=%" PRIu64 " detail=%s%s", target, bytes, one.kind,
              one.is_async ? " async stream=1" : "");
    if (!one.is_memset)
        draft_say(" source=0x%" PRIx64, source);
    if (one.limit != 0)
        draft_say(" limit=%" PRIu64, one.limit);
    end_line(&one.what);
    judge_copy(&one);
}

/* ---- Streams, pauses, losses ---- */

static void use_stream(int owner)
{
    process *one = &processes[owner];
    bool is_create = one->stream_count == 0 || rand() % 2 == 0;
    event what = begin_event(owner, -1, 0);
    int at = is_create ? one->stream_count : rand() % one->stream_count;

    what.stack = rand() % 2; /* of few, so that others of the same go */
    if (is_create) {
        one->streams[at] = ++next_stream;
        one->stream_stacks[at] = what.stack * 2 + what.thread;
    }
    draft_say("stream_call stream=%d device=%d detail=%s", one->streams[at], 1 + owner * 2,
              is_create ? "stream_create" : "stream_destroy");
    end_line(&what);
    if (is_create) {
        one->stream_count += !what.is_late;
        return;
    }
    one->gone_streams[one->gone_count] = one->streams[at];
    one->gone_stacks[one->gone_count++] = one->stream_stacks[at] / 2;
    one->stream_count--;
    one->streams[at] = one->streams[one->stream_count];
    one->stream_stacks[at] = one->stream_stacks[one->stream_count];
}

static void lose(int owner)
{
    bool is_everybodys = rand() % 3 == 0;

    begin_event(owner, -1, 0);
    draft_say("loss number=2 until=%" PRId64, now);
    if (!is_everybodys)
        draft_say(" thread=%d", thread_id(owner, 0));
    draft_say("\n");
    for (int i = 0; i < PROCESSES; i++)
        processes[i].has_loss |= is_everybodys || i == owner;
}

static void pause_process(int owner)
{
    bool is_known = rand() % 2 == 0;

    begin_event(owner, -1, 0);
    draft_say("pause number=%d detail=1 thread=%d\n", owner + 1, thread_id(owner, 0));
    begin_event(owner, -1, 0);
    draft_say("pause number=%d detail=%d thread=%d\n", owner + 1, is_known ? 2 : 3, thread_id(owner, 0));
    processes[owner].stream_count = 0;
    if (!is_known) {
        processes[owner].has_unknown_pause = true;
        processes[owner].pause_end = number;
    }
}

/* Forgotten: of the same stack as many were destroyed or more, and one of them was made later. */
static bool is_forgotten(const process *one, int at)
{
    int kept = 0, gone = 0, younger = 0;

    for (int i = 0; i < one->stream_count; i++)
        kept += one->stream_stacks[i] / 2 == one->stream_stacks[at] / 2;
    for (int i = 0; i < one->gone_count; i++) {
        gone += one->gone_stacks[i] == one->stream_stacks[at] / 2;
        younger += one->gone_stacks[i] == one->stream_stacks[at] / 2 && one->gone_streams[i] > one->streams[at];
    }
    return gone >= kept && younger > 0;
}

static void end_process(int owner)
{
    process *one = &processes[owner];
    event what = begin_event(owner, -1, 0);
    bool is_exit = rand() % 4 != 0;

    draft_say("process_end process=%d detail=%s\n", owner + 1, is_exit ? "exit" : "signal");
    for (int i = 0; i < one->stream_count && is_exit && !one->has_loss; i++) {
        if (!is_forgotten(one, i))
            continue;
        what.thread = one->stream_stacks[i] % 2;
        what.stack = one->stream_stacks[i] / 2;
        tell(&what, NM_ANOMALY_STREAM_KEPT, -1, (uint64_t)one->streams[i], 0, NULL, 0);
    }
}

/* ---- Random traffic ---- */

static uint64_t span_of(int heap)
{
    return heap == DRIVER_TWO ? DEVICE_TWO : heap == PINNED || heap == REGISTERED ? HOST : DEVICE_ONE;
}

static memory *pick_memory(int owner, bool is_live)
{
    for (int try = 0; try < 20 && memory_count > 0; try++) {
        memory *one = &memories[rand() % memory_count];

        if (one->process == owner && (!is_live || one->how == LIVE))
            return one;
    }
    return NULL;
}

/* An address that has to do with something that is or was there: its begin, its end, in its middle; or just any. */
static uint64_t pick_address(int owner)
{
    static const uint64_t spans[] = {DEVICE_ONE, DEVICE_ONE, DEVICE_TWO, HOST};
    const memory *one = pick_memory(owner, rand() % 2 == 0);

    if (one == NULL || rand() % 4 == 0)
        return spans[rand() % 4] + (uint64_t)(rand() % SPAN);
    switch (rand() % 3) {
    case 0:
        return one->from;
    case 1:
        return end_of(one);
    default:
        return one->from + (uint64_t)(rand() % (int)(size_of(one) + 1));
    }
}

static void allocate_somewhere(int owner, bool is_legal)
{
    int heap = rand() % 3 == 0 ? rand() % HEAPS : rand() % 2 == 0 ? POOL : DRIVER;
    uint64_t units = is_driver(heap) || heap == PINNED ? 4 + (uint64_t)(rand() % 40) : 1 + (uint64_t)(rand() % 8);
    uint64_t address = span_of(heap) + (uint64_t)(rand() % (SPAN / GRANULE)) * GRANULE;
    bool is_mapped = heap == DRIVER_TWO && rand() % 2 == 0;
    memory like = {.process = owner, .heap = heap, .from = address, .block = units * GRANULE};

    for (int i = 0; i < memory_count && is_legal; i++)
        if (is_live_in(&memories[i], owner, space_of(heap)) && memories[i].from < end_of(&like) &&
            like.from <= end_of(&memories[i]))
            return;
    if (is_legal && is_pool(heap) && holder(owner, DRIVER, address) == NULL)
        return;
    if (!is_legal && rand() % 3 == 0)
        address = span_of(heap) + pick_address(owner) % SPAN / GRANULE * GRANULE; /* devices do not share addresses */
    if (!is_legal && rand() % 15 == 0 && !is_pool(heap))
        allocate(owner, heap, address, 0, 0, false);
    else if (is_mapped)
        allocate(owner, heap, address, 0, units * GRANULE, true);
    else
        allocate(owner, heap, address, rand() % 8 == 0 ? 0 : units * GRANULE - (uint64_t)(rand() % GRANULE),
                 units * GRANULE, false);
}

static void release_something(int owner)
{
    const memory *one = pick_memory(owner, true);

    if (one == NULL || one->how != LIVE)
        return;
    if (one->is_mapped)
        unmap(owner, one->from);
    else
        release(owner, one->heap,
                is_driver(one->heap)      ? CALL_DEVICE
                : one->heap == PINNED     ? CALL_HOST
                : one->heap == REGISTERED ? CALL_REGISTERED
                                          : CALL_HEAP,
                one->from);
}

static void transfer_something(int owner)
{
    const memory *source = pick_memory(owner, true), *target = pick_memory(owner, true);
    uint64_t bytes;

    if (source == NULL || target == NULL || size_of(source) == 0 || size_of(target) == 0)
        return;
    bytes = own_end(source) - source->from;
    if (own_end(target) - target->from < bytes)
        bytes = own_end(target) - target->from;
    transfer(owner, source->from, target->from, rand() % 3 == 0 ? 1 + (uint64_t)rand() % bytes : bytes);
}

static void fail_to_allocate(int owner)
{
    event what = begin_event(owner, DRIVER, 0);

    draft_say("alloc_failed heap=%d requested=0 error=107000", heap_id(owner, DRIVER));
    end_line(&what);
    if (!is_in_doubt(&what))
        tell(&what, NM_ANOMALY_ZERO_SIZE, DRIVER, 0, 0, NULL, 0);
}

static void do_anything_wrong(int owner)
{
    switch (rand() % 8) {
    case 0:
    case 1:
        allocate_somewhere(owner, false);
        return;
    case 2:
    case 3:
        release(owner, rand() % HEAPS, rand() % CALLS, pick_address(owner));
        return;
    case 4:
        if (rand() % 3 == 0)
            unmap(owner, pick_address(owner));
        else if (rand() % 4 == 0)
            fail_to_allocate(owner);
        return;
    default:
        transfer(owner, pick_address(owner), pick_address(owner), (uint64_t)(rand() % 80));
    }
}

static void act(int owner, bool has_gaps)
{
    int what = rand() % 100;

    if (has_gaps && what == 0 && rand() % 3 == 0)
        lose(owner);
    else if (has_gaps && what == 1 && rand() % 2 == 0)
        pause_process(owner);
    else if (what < 30)
        allocate_somewhere(owner, true);
    else if (what < 50)
        release_something(owner);
    else if (what < 70)
        transfer_something(owner);
    else if (what < 75)
        use_stream(owner);
    else
        do_anything_wrong(owner);
}

static void define(bool has_gaps)
{
    static const char *const heaps[HEAPS] = {
        "device=%d level=driver basis=block", "device=%d level=driver basis=block",
        "device=%d level=driver basis=block", "device=%d level=pool basis=block",
        "device=%d level=pool basis=block",   "level=pinned basis=requested",
        "level=registered basis=requested",   "device=%d level=physical basis=block",
    };

    for (int owner = 0; owner < PROCESSES; owner++) {
        processes[owner] = (process){.is_late = has_gaps && rand() % 4 == 0};
        draft_say("process %d pid=%d host=h begin=0 command=x%s\n", owner + 1, 100 + owner,
                  processes[owner].is_late ? " late=1" : "");
        for (int device = 0; device < 2; device++)
            draft_say("device %d process=%d ordinal=%d kind=npu\n", 1 + owner * 2 + device, owner + 1, device);
        for (int heap = 0; heap < HEAPS; heap++) {
            char rest[96];

            snprintf(rest, sizeof rest, heaps[heap], 1 + owner * 2 + (heap == DRIVER_TWO));
            draft_say("heap %d process=%d %s name=h%d\n", heap_id(owner, heap), owner + 1, rest, heap);
        }
        for (int thread = 0; thread < 2; thread++)
            draft_say("thread %d process=%d tid=%d\n", thread_id(owner, thread), owner + 1, 100 * owner + thread + 1);
    }
    for (int stack = 1; stack <= STACKS; stack++)
        draft_say("stack %d: /a.py:%d:f%d\n", stack, stack, stack);
}

static void make_trace(unsigned seed)
{
    bool has_gaps = seed % 3 == 0;

    srand(seed);
    draft_begin();
    memory_count = wait_count = row_count = copy_count = next_stream = 0;
    number = -1;
    now = 1000;
    define(has_gaps);
    for (int i = 0; i < ACTS; i++)
        act(rand() % PROCESSES, has_gaps);
    for (int owner = 0; owner < PROCESSES; owner++)
        if (rand() % 4 != 0)
            end_process(owner);
    resolve_until(INT64_MAX);
}

/* ---- Comparing ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static char *join_rows(void)
{
    char *joined = calloc((size_t)row_count + 1, ROW_BYTES);
    size_t length = 0;

    qsort(rows, (size_t)row_count, ROW_BYTES, by_text);
    for (int i = 0; i < row_count; i++)
        length += (size_t)sprintf(joined + length, "%s%s", length > 0 ? "\n" : "", rows[i]);
    return joined;
}

/* The first line in which two lists differ, for the message. */
static const char *first_difference(const char *a, const char *b)
{
    const char *line = a;

    while (*a != '\0' && *a == *b) {
        if (*a == '\n')
            line = a + 1;
        a++;
        b++;
    }
    return line;
}

static void compare(sqlite3 *db, unsigned seed)
{
    char *actual =
        load_rows(db, "SELECT row FROM (SELECT printf('%06d|%d|%d|%d|%s|%s|%s|%s|%s|%s', seq, kind, process_id,"
                      " thread_id, coalesce(heap_id, '-'), coalesce(address, '-'), coalesce(size_bytes, '-'),"
                      " coalesce(allocation_id, '-'), coalesce(stack_id, '-'), coalesce(other_stack_id, '-'))"
                      " AS row FROM anomaly) ORDER BY row");
    char *expected = join_rows();
    size_t length = strlen(actual);

    if (length > 0 && actual[length - 1] == '\n')
        actual[length - 1] = '\0';
    if (strcmp(actual, expected) != 0) {
        fprintf(stderr, "seed %u: found %.160s\n  expected %.160s\n", seed, first_difference(actual, expected),
                first_difference(expected, actual));
        ck_abort_msg("NPUMEM_SEED=%u: the lists differ", seed);
    }
    free(actual);
    free(expected);
}

START_TEST(anomalies_equal_a_slow_search)
{
    static const int kinds[] = {NM_ANOMALY_FREE_UNKNOWN,  NM_ANOMALY_DOUBLE_FREE,     NM_ANOMALY_WRONG_FREE,
                                NM_ANOMALY_COPY_PAST_END, NM_ANOMALY_USE_AFTER_FREE,  NM_ANOMALY_OVERLAP,
                                NM_ANOMALY_UNMAP_UNKNOWN, NM_ANOMALY_ZERO_SIZE,       NM_ANOMALY_UNREGISTER_UNKNOWN,
                                NM_ANOMALY_STREAM_KEPT,   NM_ANOMALY_COPY_UNALLOCATED};

    unsigned first = (unsigned)seed_of_test(1);

    for (unsigned seed = first; seed != first + RUNS; seed++) {
        make_trace(seed);
        sqlite3 *db = draft_load((uint64_t)number + 1);

        compare(db, seed);
        sqlite3_close(db);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) { /* the runs do make every mistake, more than once */
        printf("kind %d: %" PRIu64 "\n", kinds[i], kind_counts[kinds[i]]);
        ck_assert_uint_gt(kind_counts[kinds[i]], 1);
    }
}
END_TEST

TEST_SUITE(test_misuse_oracle)
{
    TCase *tcase = tcase_create("oracle");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, anomalies_equal_a_slow_search);
    return draft_suite("misuse against a slow search", tcase);
}
