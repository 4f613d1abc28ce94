/* SPDX-License-Identifier: Apache-2.0
 *
 * A part holds as many entries as are sorted at once; rows mostly come in some order, so that parts hardly overlap and the
 * one that was read last is mostly read next. A packed entry: how far its place is from the one before, value and kind,
 * how far its row is from the last one that began (or ended), and so its segment where it begins. What is read here was
 * written here: nothing is checked again.
 */
#include "whatif/journal.h"

#include <stdlib.h>
#include <string.h>

#define PART_ENTRIES       ((size_t)1 << 18)
#define PACKED_BYTES_MAX   (4 * NM_VARINT_BYTES_MAX)
#define DIGIT_BITS         11
#define DIGIT_COUNT        (1u << DIGIT_BITS)
#define DIGIT_OF(place, n) ((place) >> (n) & (DIGIT_COUNT - 1))

struct nm_journal_part {
    uint8_t *bytes; /* owned */
    size_t at, entry_count;
    uint64_t last_segment_id;
    uint32_t last_begun, last_ended; /* rows */
    nm_journal_entry entry;          /* the one that was read last */
};

static bool is_begun(const nm_journal_entry *entry)
{
    return entry->kind >= NM_JOURNAL_ALLOCATED;
}

/* ---- Sorting ----------------------------------------------------------------------------------------------------- */

/* Moves the entries to the other array, by the digit; what is equal keeps its order. `shift` 64: by kind. */
static void sort_by(nm_journal *journal, unsigned shift)
{
    size_t starts[DIGIT_COUNT + 1] = {0};
    nm_journal_entry *from = journal->fresh, *to = journal->other;

    for (size_t i = 0; i < journal->fresh_count; i++)
        starts[(shift == 64 ? from[i].kind : DIGIT_OF(from[i].place, shift)) + 1]++;
    for (size_t i = 0; i < DIGIT_COUNT; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < journal->fresh_count; i++)
        to[starts[shift == 64 ? from[i].kind : DIGIT_OF(from[i].place, shift)]++] = from[i];
    journal->fresh = to;
    journal->other = from;
}

/* By place, kind and row: rows come in their order. */
static void sort(nm_journal *journal)
{
    uint64_t differing = 0;

    for (size_t i = 1; i < journal->fresh_count; i++)
        differing |= journal->fresh[i].place ^ journal->fresh[0].place;
    sort_by(journal, 64);
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS)
        if (DIGIT_OF(differing, shift) != 0)
            sort_by(journal, shift);
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

static size_t pack(nm_journal_part *part, const nm_journal_entry *entry, uint8_t *to)
{
    uint32_t *last_row = is_begun(entry) ? &part->last_begun : &part->last_ended;
    size_t len = nm_put_varint(to, entry->place - part->entry.place);

    len += nm_put_varint(to + len, (uint64_t)entry->value << 3 | entry->kind);
    len += nm_put_varint(to + len, nm_zigzag((int64_t)entry->row - *last_row));
    *last_row = entry->row;
    if (is_begun(entry)) {
        len += nm_put_varint(to + len, nm_zigzag((int64_t)(entry->segment_id - part->last_segment_id)));
        part->last_segment_id = entry->segment_id;
    }
    part->entry.place = entry->place;
    return len;
}

static inline uint64_t unpack_number(nm_journal_part *part)
{
    const uint8_t *from = part->bytes + part->at;
    uint64_t value = *from & 0x7f;

    for (unsigned shift = 7; *from++ >= 0x80; shift += 7)
        value |= (uint64_t)(*from & 0x7f) << shift;
    part->at = (size_t)(from - part->bytes);
    return value;
}

/* False: that was all. */
static bool unpack(nm_journal_part *part)
{
    nm_journal_entry *entry = &part->entry;

    if (part->entry_count == 0)
        return false;
    part->entry_count--;
    entry->place += unpack_number(part);
    uint64_t word = unpack_number(part);
    entry->kind = word & 7;
    entry->value = (uint32_t)(word >> 3) & ((UINT32_C(1) << 29) - 1);
    uint32_t *last_row = is_begun(entry) ? &part->last_begun : &part->last_ended;
    entry->row = *last_row += (uint32_t)nm_unzigzag(unpack_number(part));
    if (is_begun(entry))
        entry->segment_id = part->last_segment_id += (uint64_t)nm_unzigzag(unpack_number(part));
    return true;
}

/* Back to before the first entry. */
static void rewind_part(nm_journal_part *part)
{
    *part = (nm_journal_part){.bytes = part->bytes, .entry_count = part->entry_count};
}

static nm_status seal(nm_journal *journal, nm_error *err)
{
    nm_journal_part part = {.entry_count = journal->fresh_count};
    nm_buffer packed = {0};
    nm_status status = NM_OK;

    if (journal->fresh_count == 0)
        return NM_OK;
    sort(journal);
    for (size_t i = 0; i < journal->fresh_count && status == NM_OK; i++) {
        status = nm_buffer_reserve(&packed, PACKED_BYTES_MAX, err);
        if (status == NM_OK)
            packed.len += pack(&part, &journal->fresh[i], packed.data + packed.len);
    }
    if (status == NM_OK)
        status = nm_array_grow(&journal->parts.items, &journal->parts.capacity, journal->parts.count + 1,
                               sizeof *journal->parts.items, err);
    if (status != NM_OK) {
        nm_buffer_free(&packed);
        return status;
    }
    part.bytes = realloc(packed.data, packed.len);
    part.bytes = part.bytes == NULL ? packed.data : part.bytes;
    rewind_part(&part);
    journal->parts.items[journal->parts.count++] = part;
    journal->fresh_count = 0;
    return NM_OK;
}

nm_status nm_journal_put(nm_journal *journal, const nm_journal_entry *entry, nm_error *err)
{
    if (journal->fresh == NULL) {
        journal->fresh = malloc(PART_ENTRIES * sizeof *journal->fresh);
        journal->other = malloc(PART_ENTRIES * sizeof *journal->other);
        if (journal->fresh == NULL || journal->other == NULL)
            return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    journal->fresh[journal->fresh_count++] = *entry;
    journal->entry_count++;
    journal->begun_count += is_begun(entry);
    return journal->fresh_count == PART_ENTRIES ? seal(journal, err) : NM_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* All is in parts from now on. */
static nm_status end_putting(nm_journal *journal, nm_error *err)
{
    nm_status status = seal(journal, err);

    free(journal->fresh);
    free(journal->other);
    journal->fresh = journal->other = NULL;
    return status;
}

nm_status nm_journal_each_begun(nm_journal *journal, nm_journal_take *take, void *context, nm_error *err)
{
    nm_status status = end_putting(journal, err);

    for (size_t i = 0; i < journal->parts.count && status == NM_OK; i++) {
        nm_journal_part part = journal->parts.items[i];

        while (status == NM_OK && unpack(&part))
            if (is_begun(&part.entry))
                status = take(context, &part.entry, err);
    }
    return status;
}

/* Of equal entries those of the earlier part come first, whose rows did. */
static bool is_less(const nm_journal *journal, uint32_t left, uint32_t right)
{
    const nm_journal_entry *a = &journal->parts.items[left].entry, *b = &journal->parts.items[right].entry;

    if (a->place != b->place)
        return a->place < b->place;
    return a->kind != b->kind ? a->kind < b->kind : left < right;
}

/* Lets the first of the heap sink to its place. */
static void sink(nm_journal *journal, size_t at)
{
    uint32_t *heap = journal->heap, part = heap[at];

    for (size_t child; (child = 2 * at + 1) < journal->heap_count; at = child) {
        child += child + 1 < journal->heap_count && is_less(journal, heap[child + 1], heap[child]);
        if (!is_less(journal, heap[child], part))
            break;
        heap[at] = heap[child];
    }
    heap[at] = part;
}

nm_status nm_journal_begin(nm_journal *journal, nm_error *err)
{
    nm_status status = end_putting(journal, err);

    journal->heap = calloc(journal->parts.count + 1, sizeof *journal->heap);
    if (status == NM_OK && journal->heap == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < journal->parts.count && status == NM_OK; i++)
        if (unpack(&journal->parts.items[i]))
            journal->heap[journal->heap_count++] = (uint32_t)i;
    for (size_t i = journal->heap_count / 2; i-- > 0;)
        sink(journal, i);
    return status;
}

bool nm_journal_next(nm_journal *journal, nm_journal_entry *entry)
{
    if (journal->heap_count == 0)
        return false;
    nm_journal_part *part = &journal->parts.items[journal->heap[0]];

    *entry = part->entry;
    if (!unpack(part)) {
        free(part->bytes);
        part->bytes = NULL;
        journal->heap[0] = journal->heap[--journal->heap_count];
    }
    if (journal->heap_count > 0)
        sink(journal, 0);
    return true;
}

void nm_journal_free(nm_journal *journal)
{
    free(journal->fresh);
    free(journal->other);
    for (size_t i = 0; i < journal->parts.count; i++)
        free(journal->parts.items[i].bytes);
    free(journal->parts.items);
    free(journal->heap);
    *journal = (nm_journal){0};
}
