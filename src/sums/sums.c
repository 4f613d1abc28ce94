/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the passes, and what tells them: of each kind of row the passes that want it, looked up once, so that a row
 * which nobody sums costs a look at an empty list. A new sum is its declaration and, beside it, its row.
 */
#include "sums/sums.h"

#include <stdlib.h>

#include "sums/declared.h"
#include "sums/pass.h"

static const nm_sum *const declared[] = {
#define SUM(name) &nm_sum_of_##name,
#include "rows/rows.def"
};

static const nm_row_pass *const others[] = {
#define ROW_PASS(name) &nm_##name,
#include "rows/rows.def"
};

#define DECLARED_COUNT (sizeof declared / sizeof declared[0])
#define OTHER_COUNT    (sizeof others / sizeof others[0])

typedef struct told_sum {
    nm_sum_table *table;
    const nm_sum_feed *feed;
} told_sum;

struct nm_sums {
    const nm_definitions *definitions; /* borrowed */
    nm_sum_table tables[DECLARED_COUNT];
    void *rooms[OTHER_COUNT];
    struct { /* by kind of row: whom it is told */
        told_sum sums[DECLARED_COUNT];
        size_t sum_count;
        size_t others[OTHER_COUNT];
        size_t other_count;
    } told[NM_ROW_KINDS];
};

static void enter(nm_sums *sums, nm_sum_table *table)
{
    for (size_t i = 0; i < table->sum->feed_count; i++) {
        const nm_sum_feed *feed = &table->sum->feeds[i];

        sums->told[feed->kind].sums[sums->told[feed->kind].sum_count++] = (told_sum){table, feed};
    }
}

nm_status nm_sums_new(const nm_definitions *definitions, nm_sums **out, nm_error *err)
{
    nm_sums *sums = calloc(1, sizeof *sums);
    bool has_memory = sums != NULL;

    for (size_t i = 0; i < DECLARED_COUNT && has_memory; i++) {
        sums->tables[i].sum = declared[i];
        enter(sums, &sums->tables[i]);
    }
    for (size_t i = 0; i < OTHER_COUNT && has_memory; i++) {
        sums->told[others[i]->wants].others[sums->told[others[i]->wants].other_count++] = i;
        has_memory = (sums->rooms[i] = calloc(1, others[i]->room_bytes)) != NULL;
    }
    if (!has_memory) {
        nm_sums_free(sums);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    sums->definitions = definitions;
    *out = sums;
    return NM_OK;
}

nm_status nm_sums_row(nm_sums *sums, nm_row_kind kind, const void *row, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < sums->told[kind].sum_count && status == NM_OK; i++) {
        const told_sum *told = &sums->told[kind].sums[i];

        status = nm_sum_table_add(told->table, told->feed, sums->definitions, row, err);
    }
    for (size_t i = 0; i < sums->told[kind].other_count && status == NM_OK; i++) {
        size_t other = sums->told[kind].others[i];

        status = others[other]->row(sums->rooms[other], row, err);
    }
    return status;
}

static nm_status give_table(const nm_sum_table *table, const nm_sink *sink, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < table->count && status == NM_OK; i++) {
        const void *row = nm_sum_table_at(table, i);

        if (table->sum->is_empty == NULL || !table->sum->is_empty(row))
            status = nm_give(sink, table->sum->gives, row, err);
    }
    return status;
}

nm_status nm_sums_finish(const nm_sums *sums, const nm_sink *sink, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < DECLARED_COUNT && status == NM_OK; i++)
        status = give_table(&sums->tables[i], sink, err);
    for (size_t i = 0; i < OTHER_COUNT && status == NM_OK; i++)
        status = others[i]->finish(sums->rooms[i], sink, err);
    return status;
}

void nm_sums_free(nm_sums *sums)
{
    if (sums == NULL)
        return;
    for (size_t i = 0; i < DECLARED_COUNT; i++)
        nm_sum_table_free(&sums->tables[i]);
    for (size_t i = 0; i < OTHER_COUNT; i++)
        if (sums->rooms[i] != NULL) {
            others[i]->release(sums->rooms[i]);
            free(sums->rooms[i]);
        }
    free(sums);
}
