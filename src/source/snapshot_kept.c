/* SPDX-License-Identifier: Apache-2.0
 *
 * An entry is two bytes, what it is and which of its fields differ from the entry before it, and those fields as varints:
 * an address and a time as the difference. Bytes are our own, and so they are not doubted when they are read.
 */
#include "source/snapshot_kept.h"

#include <string.h>

#define ENTRY_BYTES_MAX 128

size_t nm_snapshot_kept_bytes_max = 32u << 20;

enum { /* of the first byte, above the action */
       HAS_STREAM = 1 << 4,
       HAS_TIME = 1 << 5,
       HAS_DEVICE_FREE = 1 << 6,
       IS_WORKSPACE = 1 << 7,
       ACTIONS = HAS_STREAM - 1
};

enum { /* of the second: differs */
       OF_TEXT = 1 << 0,
       OF_DEVICE = 1 << 1,
       OF_STACK = 1 << 2,
       OF_CATEGORY = 1 << 3,
       OF_ADDRESS = 1 << 4,
       OF_SIZE = 1 << 5,
       OF_STREAM = 1 << 6,
       OF_POOL = 1 << 7
};

_Static_assert((int)NM_SNAPSHOT_WORKSPACE <= (int)ACTIONS, "an action is four bits");

static unsigned what_it_is(const nm_snapshot_entry *entry)
{
    return (unsigned)entry->action | (entry->has_stream ? HAS_STREAM : 0) | (entry->has_time ? HAS_TIME : 0) |
           (entry->has_device_free ? HAS_DEVICE_FREE : 0) | (entry->is_workspace ? IS_WORKSPACE : 0);
}

static unsigned what_differs(const nm_snapshot_kept *kept, const nm_snapshot_entry *entry)
{
    const nm_snapshot_entry *last = &kept->last;

    return (entry->action_text != kept->texts[entry->action] ? OF_TEXT : 0) |
           (entry->device != last->device ? OF_DEVICE : 0) | (entry->stack != last->stack ? OF_STACK : 0) |
           (entry->category != last->category ? OF_CATEGORY : 0) | (entry->address != last->address ? OF_ADDRESS : 0) |
           (entry->size_bytes != last->size_bytes ? OF_SIZE : 0) | (entry->stream != last->stream ? OF_STREAM : 0) |
           (entry->pool != last->pool ? OF_POOL : 0);
}

/* Its time is what the next one is told against, also where the next one has none. */
static void note_last(nm_snapshot_kept *kept, const nm_snapshot_entry *entry)
{
    int64_t time_us = entry->has_time ? entry->time_us : kept->last.time_us;

    kept->texts[entry->action] = entry->action_text;
    kept->last = *entry;
    kept->last.time_us = time_us;
}

/* Values that are there, at `to`; where they end. */
static uint8_t *put_fields(const nm_snapshot_kept *kept, const nm_snapshot_entry *entry, unsigned differs, uint8_t *to)
{
    const uint64_t values[] = {entry->action_text,
                               entry->device,
                               entry->stack,
                               entry->category,
                               nm_zigzag((int64_t)(entry->address - kept->last.address)),
                               entry->size_bytes,
                               entry->stream,
                               entry->pool};

    for (unsigned field = 0; differs >> field != 0; field++)
        if ((differs >> field & 1) != 0)
            to += nm_put_varint(to, values[field]);
    if (entry->has_time)
        to += nm_put_varint(to, nm_zigzag((int64_t)((uint64_t)entry->time_us - (uint64_t)kept->last.time_us)));
    if (entry->has_device_free)
        to += nm_put_varint(to, entry->device_free_bytes);
    return to;
}

nm_status nm_snapshot_kept_add(nm_snapshot_kept *kept, const nm_snapshot_entry *entry, nm_error *err)
{
    nm_status status;

    if (kept->is_dropped)
        return NM_OK;
    if (kept->bytes.len + ENTRY_BYTES_MAX > nm_snapshot_kept_bytes_max) {
        nm_buffer_free(&kept->bytes);
        kept->is_dropped = true;
        return NM_OK;
    }
    status = nm_buffer_reserve(&kept->bytes, ENTRY_BYTES_MAX, err);
    if (status != NM_OK)
        return status;
    uint8_t *to = kept->bytes.data + kept->bytes.len;
    unsigned differs = what_differs(kept, entry);
    to[0] = (uint8_t)what_it_is(entry);
    to[1] = (uint8_t)differs;
    kept->bytes.len = (size_t)(put_fields(kept, entry, differs, to + 2) - kept->bytes.data);
    note_last(kept, entry);
    return NM_OK;
}

void nm_snapshot_kept_rewind(nm_snapshot_kept *kept)
{
    kept->at = 0;
    kept->last = (nm_snapshot_entry){0};
    memset(kept->texts, 0, sizeof kept->texts);
}

static uint64_t take_varint(const uint8_t **at)
{
    uint64_t value = *(*at)++;

    if (value < 0x80)
        return value;
    value &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
        uint8_t byte = *(*at)++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

static void take_fields(nm_snapshot_entry *entry, unsigned differs, const uint8_t **at)
{
    if ((differs & OF_TEXT) != 0)
        entry->action_text = (uint32_t)take_varint(at);
    if ((differs & OF_DEVICE) != 0)
        entry->device = (uint32_t)take_varint(at);
    if ((differs & OF_STACK) != 0)
        entry->stack = (uint32_t)take_varint(at);
    if ((differs & OF_CATEGORY) != 0)
        entry->category = (uint32_t)take_varint(at);
    if ((differs & OF_ADDRESS) != 0)
        entry->address += (uint64_t)nm_unzigzag(take_varint(at));
    if ((differs & OF_SIZE) != 0)
        entry->size_bytes = take_varint(at);
    if ((differs & OF_STREAM) != 0)
        entry->stream = take_varint(at);
    if ((differs & OF_POOL) != 0)
        entry->pool = take_varint(at);
}

bool nm_snapshot_kept_next(nm_snapshot_kept *kept, nm_snapshot_entry *entry)
{
    const uint8_t *at;

    if (kept->at >= kept->bytes.len)
        return false;
    at = kept->bytes.data + kept->at;
    unsigned what = *at++, differs = *at++;
    *entry = kept->last;
    entry->action = (nm_snapshot_action)(what & ACTIONS);
    entry->action_text = kept->texts[entry->action];
    entry->has_stream = (what & HAS_STREAM) != 0;
    entry->has_time = (what & HAS_TIME) != 0;
    entry->has_device_free = (what & HAS_DEVICE_FREE) != 0;
    entry->is_workspace = (what & IS_WORKSPACE) != 0;
    take_fields(entry, differs, &at);
    entry->time_us = 0;
    entry->device_free_bytes = 0;
    if (entry->has_time)
        entry->time_us = (int64_t)((uint64_t)kept->last.time_us + (uint64_t)nm_unzigzag(take_varint(&at)));
    if (entry->has_device_free)
        entry->device_free_bytes = take_varint(&at);
    note_last(kept, entry);
    kept->at = (size_t)(at - kept->bytes.data);
    return true;
}

void nm_snapshot_kept_free(nm_snapshot_kept *kept)
{
    nm_buffer_free(&kept->bytes);
    *kept = (nm_snapshot_kept){0};
}
