/* SPDX-License-Identifier: Apache-2.0
 *
 * Heaps and devices; see heap.h. The table is made of small pieces, mapped as it fills: a program may be allowed little memory.
 */
#include "record/heap.h"

#include <stdlib.h>
#include <string.h>

#include "npumem.h"
#include "record/text.h"
#include "record/thread.h"
#include "record/writer.h"

#define LIST_COUNT    2048
#define CHUNK_ENTRIES 64

enum { NOT_SENT = 0, SENDING = 1, SENT = 2 };

typedef struct heap_entry {
    _Atomic uint32_t sent;
    uint32_t next; /* of its list; 0: the last */
    uint32_t hash;
    int32_t device;
    uint64_t level, size_basis, small_bytes, large_bytes, module_id;
    size_t name_bytes;
    char name[NPUMEM_TEXT_BYTES_MAX];
} heap_entry;

typedef struct heap_table {
    _Atomic uint32_t count;
    _Atomic uint32_t lists[LIST_COUNT];                            /* by hash: number of the first entry; 0: empty */
    _Atomic(void *) chunks[NM_HEAP_COUNT_MAX / CHUNK_ENTRIES + 1]; /* of heap_entry, by number; NULL: likewise */
} heap_table;

typedef struct device_entry {
    _Atomic uint32_t sent;
    _Atomic uint32_t is_capacity_asked;
    _Atomic uint64_t capacity_bytes;
} device_entry;

static _Atomic(void *) heaps; /* the heap_table; NULL: not needed yet */
static device_entry devices[NM_DEVICE_COUNT_MAX];

void nm_heap_forget_all(void)
{
    /* relaxed: the generation publishes it. The old table stays mapped: a thread may still be in it. */
    atomic_store_explicit(&heaps, NULL, memory_order_relaxed);
    memset(devices, 0, sizeof devices);
}

/* ---- Definitions are sent once ------------------------------------------------------------------------------------- */

/* True when the caller has to send; nobody waits for somebody else who is at it. With signals blocked: a handler that left by
 * a jump would leave it half sent for ever. */
static bool begin_send(_Atomic uint32_t *sent)
{
    uint32_t before = NOT_SENT;

    /* relaxed: what is sent does not change. */
    return atomic_compare_exchange_strong_explicit(sent, &before, SENDING, memory_order_relaxed, memory_order_relaxed);
}

static void end_send(_Atomic uint32_t *sent, bool is_sent)
{
    atomic_store_explicit(sent, is_sent ? SENT : NOT_SENT, memory_order_relaxed); /* relaxed: as in begin_send */
}

static void send_heap(nm_recorded_thread *thread, heap_entry *entry, uint32_t number)
{
    nm_ring_heap record = {
        .local_id = number,
        .level = entry->level,
        .small_bytes = entry->small_bytes,
        .large_bytes = entry->large_bytes,
        .size_basis = entry->size_basis,
        .module_id = entry->module_id,
        .text_bytes = entry->name_bytes,
    };

    uint64_t mask;

    if (nm_likely(atomic_load_explicit(&entry->sent, memory_order_relaxed) != NOT_SENT)) /* relaxed: see begin_send */
        return;
    record.device = nm_device_number(thread, entry->device);
    mask = nm_system_block_signals();
    if (begin_send(&entry->sent))
        end_send(&entry->sent,
                 nm_writer_define(thread, NM_RING_HEAP, &record, sizeof record, entry->name, entry->name_bytes));
    nm_system_restore_signals(mask);
}

/* ---- Heaps --------------------------------------------------------------------------------------------------------- */

/* In the high half of every handle; never 0, so that no handle is. */
static uint32_t generation_mark(void)
{
    return (uint32_t)(nm_process_state.last_generation % UINT16_MAX + 1) << 16;
}

/* Memory of that size in *place, made by whoever comes first; NULL: there is none. */
static void *make_once(_Atomic(void *) *place, size_t bytes)
{
    /* acquire: pairs with the release below; what is mapped is all zero. */
    void *there = atomic_load_explicit(place, memory_order_acquire);
    void *made;

    if (there != NULL)
        return there;
    made = nm_system_memory(bytes);
    if (made == NULL)
        return NULL;
    if (atomic_compare_exchange_strong_explicit(place, &there, made, memory_order_acq_rel, memory_order_acquire))
        return made;
    nm_system_unmap(made, bytes);
    return there;
}

static heap_entry *entry_of(heap_table *table, uint32_t number)
{
    /* acquire: pairs with make_once. */
    heap_entry *chunk = atomic_load_explicit(&table->chunks[number / CHUNK_ENTRIES], memory_order_acquire);

    return &chunk[number % CHUNK_ENTRIES];
}

static uint32_t hash_request(const nm_heap_request *request)
{
    uint64_t hash = request->level * 31 + (uint64_t)(uint32_t)request->device;

    for (size_t i = 0; i < request->name_bytes; i++)
        hash = (hash ^ (unsigned char)request->name[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool is_same_heap(const heap_entry *entry, const nm_heap_request *request, uint32_t hash)
{
    return entry->hash == hash && entry->level == request->level && entry->device == request->device &&
           entry->name_bytes == request->name_bytes && memcmp(entry->name, request->name, entry->name_bytes) == 0;
}

/* A filled entry that nothing refers to yet; 0: no more. */
static uint32_t add_entry(heap_table *table, const nm_heap_request *request, uint32_t hash)
{
    /* relaxed: the list publishes the entry. */
    uint32_t number = atomic_load_explicit(&table->count, memory_order_relaxed);
    heap_entry *entry;

    do { /* the room first: a number that has none would be lost */
        if (number >= NM_HEAP_COUNT_MAX ||
            make_once(&table->chunks[(number + 1) / CHUNK_ENTRIES], CHUNK_ENTRIES * sizeof *entry) == NULL)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&table->count, &number, number + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    entry = entry_of(table, ++number);
    entry->hash = hash;
    entry->device = request->device;
    entry->level = request->level;
    entry->size_basis = request->size_basis;
    entry->small_bytes = request->small_bytes;
    entry->large_bytes = request->large_bytes;
    entry->module_id = request->module_id;
    entry->name_bytes = request->name_bytes;
    memcpy(entry->name, request->name, request->name_bytes);
    return number;
}

/* The heap's number among those from `first` on, up to `end`; 0: it is not there. */
static uint32_t find_entry(heap_table *table, uint32_t first, uint32_t end, const nm_heap_request *request,
                           uint32_t hash)
{
    for (uint32_t number = first; number != end; number = entry_of(table, number)->next) {
        if (is_same_heap(entry_of(table, number), request, hash))
            return number;
    }
    return 0;
}

/* The number of the request's heap, added if it is new. Two threads that define the same heap at once get one number: the
 * list decides, and the other entry stays unused. */
static uint32_t find_or_add(heap_table *table, const nm_heap_request *request)
{
    uint32_t hash = hash_request(request), added;
    _Atomic uint32_t *list = &table->lists[hash % LIST_COUNT];
    /* acquire: pairs with the release of the swap; what a list holds never changes. */
    uint32_t first = atomic_load_explicit(list, memory_order_acquire), end = 0;
    uint32_t number = find_entry(table, first, end, request, hash);

    if (number != 0)
        return number;
    added = add_entry(table, request, hash);
    while (added != 0 && number == 0) {
        entry_of(table, added)->next = end = first;
        /* release: whoever finds the entry finds it filled. acquire: so do we of another thread's. */
        if (atomic_compare_exchange_strong_explicit(list, &first, added, memory_order_acq_rel, memory_order_acquire))
            return added;
        number = find_entry(table, first, end, request, hash);
    }
    return number;
}

uint32_t nm_heap_define(nm_recorded_thread *thread, const nm_heap_request *request)
{
    heap_table *table = make_once(&heaps, sizeof *table);
    uint32_t number = table != NULL ? find_or_add(table, request) : 0;

    if (number != 0)
        send_heap(thread, entry_of(table, number), number);
    else
        nm_thread_note_no_memory();
    return generation_mark() | number;
}

uint32_t nm_heap_number(nm_recorded_thread *thread, uint32_t handle)
{
    /* acquire: pairs with make_once. */
    heap_table *table = atomic_load_explicit(&heaps, memory_order_acquire);
    uint32_t number = handle & 0xffff;
    heap_entry *entry;

    if (nm_unlikely(table == NULL || (handle & 0xffff0000) != generation_mark() || number == 0 ||
                    number > atomic_load_explicit(&table->count, memory_order_relaxed)))
        return 0;
    entry = entry_of(table, number);
    if (nm_unlikely(atomic_load_explicit(&entry->sent, memory_order_relaxed) == NOT_SENT))
        send_heap(thread, entry, number);
    return number;
}

bool nm_heap_is_without_room(uint32_t handle)
{
    return handle == generation_mark();
}

uint32_t nm_heap_without_room(void)
{
    return nm_state_is_recording() && nm_state_generation() != 0 ? generation_mark() : 0;
}

/* ---- Devices ------------------------------------------------------------------------------------------------------- */

/* Read when a device is first used: programs set it late. NULL: all devices are visible, under their own numbers. */
static const char *visible_devices(void)
{
    const char *visible = secure_getenv("ASCEND_RT_VISIBLE_DEVICES");

    return visible != NULL && *visible != 0 ? visible : NULL;
}

int32_t nm_device_ordinal(int32_t number)
{
    const char *visible = visible_devices();
    int64_t named;

    for (int32_t ordinal = 0; visible != NULL && ordinal < NM_DEVICE_COUNT_MAX; ordinal++) {
        named = nm_text_list_number(visible, ordinal);
        if (named == number)
            return ordinal;
        if (named == INT64_MIN)
            break;
    }
    return number;
}

static bool send_device(nm_recorded_thread *thread, int32_t ordinal)
{
    const char *visible = visible_devices();
    nm_ring_device record = {
        .local_id = (uint64_t)ordinal + 1,
        .ordinal = ordinal,
        .physical_ordinal = visible != NULL ? nm_text_list_number(visible, ordinal) : ordinal,
        /* relaxed: a number. */
        .capacity_bytes = atomic_load_explicit(&devices[ordinal].capacity_bytes, memory_order_relaxed),
    };

    return nm_writer_define(thread, NM_RING_DEVICE, &record, sizeof record, NULL, 0);
}

uint64_t nm_device_number(nm_recorded_thread *thread, int32_t ordinal)
{
    device_entry *entry;

    if (ordinal < 0 || ordinal >= NM_DEVICE_COUNT_MAX)
        return 0;
    entry = &devices[ordinal];
    /* relaxed: see begin_send. */
    if (nm_unlikely(atomic_load_explicit(&entry->sent, memory_order_relaxed) == NOT_SENT)) {
        uint64_t mask = nm_system_block_signals();

        if (begin_send(&entry->sent))
            end_send(&entry->sent, send_device(thread, ordinal));
        nm_system_restore_signals(mask);
    }
    return (uint64_t)ordinal + 1;
}

bool nm_device_is_capacity_wanted(int32_t ordinal)
{
    if (ordinal < 0 || ordinal >= NM_DEVICE_COUNT_MAX)
        return false;
    /* relaxed: one thread wins, nothing hangs on it. The load first keeps the line shared. */
    return atomic_load_explicit(&devices[ordinal].is_capacity_asked, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(&devices[ordinal].is_capacity_asked, 1, memory_order_relaxed) == 0;
}

void nm_device_set_capacity(nm_recorded_thread *thread, int32_t ordinal, uint64_t capacity_bytes)
{
    if (ordinal < 0 || ordinal >= NM_DEVICE_COUNT_MAX || capacity_bytes == 0)
        return;
    /* relaxed: a number, sent again below. */
    atomic_store_explicit(&devices[ordinal].capacity_bytes, capacity_bytes, memory_order_relaxed);
    end_send(&devices[ordinal].sent, send_device(thread, ordinal));
}
