/* SPDX-License-Identifier: Apache-2.0
 *
 * Heaps and devices; see heap.h. The table's memory is reserved at its full size and touched as it fills.
 */
#include "record/heap.h"

#include <stdlib.h>
#include <string.h>

#include "npumem.h"
#include "record/text.h"
#include "record/writer.h"

#define INDEX_SLOTS 131072 /* twice the entries */

enum { NOT_SENT = 0, SENDING = 1, SENT = 2 };

typedef struct heap_entry {
    _Atomic uint32_t sent;
    int32_t device;
    uint64_t level, size_basis, small_bytes, large_bytes, module_id;
    size_t name_bytes;
    char name[NPUMEM_TEXT_BYTES_MAX];
} heap_entry;

typedef struct heap_table {
    uint32_t generation_mark; /* in the high half of every handle */
    _Atomic uint32_t count;
    _Atomic uint32_t index[INDEX_SLOTS]; /* numbers of entries by hash; 0: empty */
    heap_entry entries[NM_HEAP_COUNT_MAX + 1];
} heap_table;

typedef struct device_entry {
    _Atomic uint32_t sent;
    _Atomic uint32_t is_capacity_asked;
    _Atomic uint64_t capacity_bytes;
} device_entry;

static _Atomic(heap_table *) heaps;
static device_entry devices[NM_DEVICE_COUNT_MAX];

void nm_heap_forget_all(void)
{
    /* relaxed: the generation publishes it. The old table stays mapped: a thread may still be in it. */
    atomic_store_explicit(&heaps, NULL, memory_order_relaxed);
    memset(devices, 0, sizeof devices);
}

/* ---- Definitions are sent once ------------------------------------------------------------------------------------- */

/* True when the caller has to send; nobody waits for somebody else who is at it. */
static bool begin_send(_Atomic uint32_t *sent)
{
    uint32_t before = NOT_SENT;

    /* relaxed: what is sent does not change. The load first keeps the line shared. */
    if (nm_likely(atomic_load_explicit(sent, memory_order_relaxed) != NOT_SENT))
        return false;
    return atomic_compare_exchange_strong_explicit(sent, &before, SENDING, memory_order_relaxed, memory_order_relaxed);
}

static void end_send(_Atomic uint32_t *sent, bool is_sent)
{
    atomic_store_explicit(sent, is_sent ? SENT : NOT_SENT, memory_order_relaxed); /* relaxed: as in begin_send */
}

static void send_heap(nm_thread *thread, heap_entry *entry, uint32_t number)
{
    nm_ring_heap record = {
        .local_id = number,
        .level = entry->level,
        .device = nm_device_number(thread, entry->device),
        .small_bytes = entry->small_bytes,
        .large_bytes = entry->large_bytes,
        .size_basis = entry->size_basis,
        .module_id = entry->module_id,
        .text_bytes = entry->name_bytes,
    };

    if (begin_send(&entry->sent))
        end_send(&entry->sent,
                 nm_writer_define(thread, NM_RING_HEAP, &record, sizeof record, entry->name, entry->name_bytes));
}

/* ---- Heaps --------------------------------------------------------------------------------------------------------- */

static heap_table *heap_table_now(void)
{
    /* acquire: pairs with the release below. */
    heap_table *table = atomic_load_explicit(&heaps, memory_order_acquire);
    heap_table *made;

    if (table != NULL)
        return table;
    made = nm_system_memory(sizeof *made);
    if (made == NULL)
        return NULL;
    made->generation_mark = (uint32_t)(nm_process_state.last_generation & 0xffff) << 16;
    if (atomic_compare_exchange_strong_explicit(&heaps, &table, made, memory_order_acq_rel, memory_order_acquire))
        return made;
    nm_system_unmap(made, sizeof *made);
    return table;
}

static uint64_t hash_request(const nm_heap_request *request)
{
    uint64_t hash = request->level * 31 + (uint64_t)(uint32_t)request->device;

    for (size_t i = 0; i < request->name_bytes; i++)
        hash = (hash ^ (unsigned char)request->name[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static bool is_same_heap(const heap_entry *entry, const nm_heap_request *request)
{
    return entry->level == request->level && entry->device == request->device &&
           entry->name_bytes == request->name_bytes && memcmp(entry->name, request->name, entry->name_bytes) == 0;
}

/* A filled entry that nothing refers to yet; 0: no more. */
static uint32_t add_entry(heap_table *table, const nm_heap_request *request)
{
    /* relaxed: the index publishes the entry. */
    uint32_t number = atomic_load_explicit(&table->count, memory_order_relaxed);
    heap_entry *entry;

    do {
        if (number >= NM_HEAP_COUNT_MAX)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&table->count, &number, number + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    entry = &table->entries[++number];
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

/* The number of the request's heap, added if it is new. Two threads that define the same heap at once get one number: the
 * index decides, and the other entry stays unused. */
static uint32_t find_or_add(heap_table *table, const nm_heap_request *request)
{
    uint32_t added = 0;

    for (uint64_t slot = hash_request(request);; slot++) {
        _Atomic uint32_t *index = &table->index[slot % INDEX_SLOTS];
        /* acquire: pairs with the release of the swap; the entry is filled. */
        uint32_t number = atomic_load_explicit(index, memory_order_acquire);

        if (number == 0) {
            if (added == 0)
                added = add_entry(table, request);
            if (added == 0)
                return 0;
            if (atomic_compare_exchange_strong_explicit(index, &number, added, memory_order_acq_rel,
                                                        memory_order_acquire))
                return added;
        }
        if (is_same_heap(&table->entries[number], request))
            return number;
    }
}

uint32_t nm_heap_define(nm_thread *thread, const nm_heap_request *request)
{
    heap_table *table = heap_table_now();
    uint32_t number = table != NULL ? find_or_add(table, request) : 0;

    if (number == 0)
        return 0;
    send_heap(thread, &table->entries[number], number);
    return table->generation_mark | number;
}

uint32_t nm_heap_number(nm_thread *thread, uint32_t handle)
{
    /* acquire: pairs with heap_table_now. */
    heap_table *table = atomic_load_explicit(&heaps, memory_order_acquire);
    uint32_t number = handle & 0xffff;

    if (nm_unlikely(table == NULL || (handle & 0xffff0000) != table->generation_mark || number == 0 ||
                    number > atomic_load_explicit(&table->count, memory_order_relaxed)))
        return 0;
    if (nm_unlikely(atomic_load_explicit(&table->entries[number].sent, memory_order_relaxed) == NOT_SENT))
        send_heap(thread, &table->entries[number], number);
    return number;
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

static bool send_device(nm_thread *thread, int32_t ordinal)
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

uint64_t nm_device_number(nm_thread *thread, int32_t ordinal)
{
    device_entry *entry;

    if (ordinal < 0 || ordinal >= NM_DEVICE_COUNT_MAX)
        return 0;
    entry = &devices[ordinal];
    /* relaxed: see begin_send. */
    if (nm_unlikely(atomic_load_explicit(&entry->sent, memory_order_relaxed) == NOT_SENT) && begin_send(&entry->sent))
        end_send(&entry->sent, send_device(thread, ordinal));
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

void nm_device_set_capacity(nm_thread *thread, int32_t ordinal, uint64_t capacity_bytes)
{
    if (ordinal < 0 || ordinal >= NM_DEVICE_COUNT_MAX || capacity_bytes == 0)
        return;
    /* relaxed: a number, sent again below. */
    atomic_store_explicit(&devices[ordinal].capacity_bytes, capacity_bytes, memory_order_relaxed);
    end_send(&devices[ordinal].sent, send_device(thread, ordinal));
}
