/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums stand one behind the other in the order in which their keys first came, which is the order of the rows that are
 * given in the end; a hash table of their numbers finds them, open addressing without removal. Rows that belong together
 * often follow each other or take turns, so the last two used are looked at first.
 */
#include "sums/measures.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"

#define ITEMS_MAX (1u << 31)

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static uint8_t *item_at(const nm_sum_table *table, size_t index)
{
    return table->items.data + index * table->sum->row_bytes;
}

/* A key is a few words: a call of memcmp would cost more than they do. */
static bool is_at(const nm_sum_table *table, size_t index, const void *key)
{
    const uint8_t *item = item_at(table, index);
    uint64_t difference = 0;

    for (size_t at = 0; at < table->sum->key_bytes; at += sizeof(uint64_t))
        difference |= nm_sum_word_at(item, at) ^ nm_sum_word_at(key, at);
    return difference == 0;
}

/* Each word with a secret in it, as in base/map.c: keys come from files. */
static size_t home_of(const nm_sum_table *table, const void *key)
{
    uint64_t hash = table->secret[0];

    for (size_t at = 0; at < table->sum->key_bytes; at += sizeof(uint64_t)) {
        unsigned __int128 product = (unsigned __int128)(hash ^ nm_sum_word_at(key, at)) * table->secret[1];

        hash = (uint64_t)product ^ (uint64_t)(product >> 64) ^ table->secret[0];
    }
    return hash & (table->slot_count - 1);
}

/* The slot that holds the key's number, or the empty one where it would go. There is at least one empty slot. */
static uint32_t *slot_for(const nm_sum_table *table, const void *key)
{
    size_t at = home_of(table, key);

    while (table->slots[at] != 0 && !is_at(table, table->slots[at] - 1, key))
        at = (at + 1) & (table->slot_count - 1);
    return &table->slots[at];
}

static nm_status grow_slots(nm_sum_table *table, nm_error *err)
{
    size_t slot_count = table->slot_count == 0 ? 16 : table->slot_count * 2;
    uint32_t *slots = calloc(slot_count, sizeof *slots);

    if (slots == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at %zu sums", table->count);
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    if (table->secret[1] == 0) {
        table->secret[0] = nm_map_secret();
        table->secret[1] = table->secret[0] * 0x9E3779B97F4A7C15u | 1;
    }
    for (size_t index = 0; index < table->count; index++)
        *slot_for(table, item_at(table, index)) = (uint32_t)index + 1;
    return NM_OK;
}

/* What a measure says before any row came; most say 0, which the item is. */
static void begin_measures(const nm_sum *sum, uint8_t *item)
{
    static const int64_t none = INT64_MIN;

    for (size_t f = 0; f < sum->feed_count; f++)
        for (size_t i = 0; i < sum->feeds[f].measure_count; i++) {
            const nm_sum_measure *measure = &sum->feeds[f].measures[i];

            if (measure->kind == NM_SUMMED_MAX_SIGNED || measure->kind == NM_SUMMED_MIN_SIGNED)
                memcpy(item + measure->to, &none, sizeof none);
            if (measure->kind == NM_SUMMED_RECORD)
                memcpy(item + measure->to_other, &none, sizeof none);
        }
}

static nm_status append(nm_sum_table *table, const void *key, nm_error *err)
{
    nm_status status =
        table->count < ITEMS_MAX ? NM_OK : nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more sums than %u", ITEMS_MAX);

    if (status == NM_OK)
        status = nm_buffer_reserve(&table->items, table->sum->row_bytes, err);
    if (status != NM_OK)
        return status;
    uint8_t *item = item_at(table, table->count++);
    table->items.len += table->sum->row_bytes;
    memset(item, 0, table->sum->row_bytes);
    memcpy(item, key, table->sum->key_bytes);
    begin_measures(table->sum, item);
    return NM_OK;
}

static nm_status find_or_add(nm_sum_table *table, const void *key, uint8_t **out, nm_error *err)
{
    nm_status status = NM_OK;
    size_t recent = table->recent;

    if (table->count > 0 && is_at(table, recent, key)) {
        *out = item_at(table, recent);
        return NM_OK;
    }
    if (table->count > 0 && is_at(table, table->before, key)) {
        table->recent = table->before;
    } else {
        if (table->count + 1 > table->slot_count / 4 * 3)
            status = grow_slots(table, err);
        uint32_t *slot = status == NM_OK ? slot_for(table, key) : NULL;
        if (slot != NULL && *slot == 0 && (status = append(table, key, err)) == NM_OK)
            *slot = (uint32_t)table->count;
        if (status != NM_OK)
            return status;
        table->recent = *slot - 1;
    }
    table->before = recent;
    *out = item_at(table, table->recent);
    return NM_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

nm_status nm_sum_table_add(nm_sum_table *table, const nm_sum_feed *feed, const nm_definitions *definitions,
                           const void *row, nm_error *err)
{
    _Alignas(max_align_t) uint8_t key[NM_SUM_BYTES_MAX];
    uint8_t *sum = NULL;

    assert(table->sum->row_bytes <= sizeof key && table->sum->key_bytes % sizeof(uint64_t) == 0);
    assert(table->sum->key_bytes <= NM_SUM_KEY_BYTES_MAX);
    memset(key, 0, NM_SUM_KEY_BYTES_MAX); /* a constant number of bytes is a few stores */
    uint32_t facts = feed->classify(definitions, row, key);
    if (facts == NM_SUM_SKIP)
        return NM_OK;
    nm_status status = find_or_add(table, key, &sum, err);
    if (status != NM_OK)
        return status;
    feed->take(row, facts, sum);
    return NM_OK;
}

const void *nm_sum_table_at(const nm_sum_table *table, size_t index)
{
    return item_at(table, index);
}

void nm_sum_table_free(nm_sum_table *table)
{
    nm_buffer_free(&table->items);
    free(table->slots);
    *table = (nm_sum_table){.sum = table->sum};
}
