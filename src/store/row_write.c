/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows into their tables, by the list of their columns; of large tables by code that is made of the same list. What a
 * reference does (an unknown one becomes NULL and is counted, one to a row is remembered until that row is there) comes with
 * the kind of its member. What a table needs beyond its rows is in loader_rows.c.
 */
#include "store/row_write.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "rows/words.h"
#include "store/verdicts/verdicts.h"

/* ---- Columns that no member has ---------------------------------------------------------------------------------- */

static int64_t allocation_category_id(const nm_loader *loader, const nm_allocation_row *row)
{
    return loader->category.allocation_id == row->allocation_id ? (int64_t)loader->category.category_id : NM_NULL;
}

#define OF_THE_INPUT(name)                                                                                             \
    static int64_t name##_input_id(const nm_loader *loader, const nm_##name##_row *row)                                \
    {                                                                                                                  \
        (void)loader, (void)row;                                                                                       \
        return NM_INPUT_ID;                                                                                            \
    }
OF_THE_INPUT(input)
OF_THE_INPUT(left_out)
OF_THE_INPUT(moment)
OF_THE_INPUT(note)
OF_THE_INPUT(process)

static int64_t operation_memory_sum_freed_bytes(const nm_loader *loader, const nm_operation_memory_sum_row *row)
{
    (void)loader;
    return row->allocated_bytes > row->held_bytes ? (int64_t)(row->allocated_bytes - row->held_bytes) : 0;
}

#define CAUSE(name)                                                                                                    \
    static int64_t name##_cause(const nm_loader *loader, const nm_##name##_row *row)                                   \
    {                                                                                                                  \
        (void)loader;                                                                                                  \
        return row->is_early ? NM_EARLY_CAUSE + (int64_t)row->cause : nm_id_or_null(row->cause);                       \
    }
CAUSE(miss)
CAUSE(miss_sum)

static int64_t computed(const nm_loader *loader, nm_row_kind kind, const char *name, const void *of)
{
    switch (kind) {
#define ROW(name, NAME, table, writer)                                                                                 \
    case NM_ROW_##NAME: {                                                                                              \
        const nm_##name##_row *row = of;                                                                               \
        (void)row;
#define COMPUTED(row_name, column)                                                                                     \
    if (strcmp(name, #column) == 0)                                                                                    \
        return row_name##_##column(loader, row);
#define END(name, writer)                                                                                              \
    }                                                                                                                  \
    break;
#include "rows/rows.def"
    default:
        break;
    }
    return NM_NULL;
}

/* ---- Columns of members -------------------------------------------------------------------------------------------- */

/* Inlined where a column is a constant, so that the compiler sees through it. */
#define SEEN_THROUGH static inline __attribute__((always_inline))

SEEN_THROUGH int64_t load(const void *row, size_t offset, size_t bytes)
{
    const char *at = (const char *)row + offset;

    return bytes == sizeof(int64_t)    ? *(const int64_t *)(const void *)at
           : bytes == sizeof(uint32_t) ? *(const uint32_t *)(const void *)at
                                       : *(const bool *)(const void *)at;
}

/* One that the input defines, else 0. */
SEEN_THROUGH uint64_t defined(nm_loader *loader, nm_column_as as, uint64_t id)
{
    switch (as) {
    case NM_AS_PROCESS:
        return nm_loader_process(loader, id);
    case NM_AS_DEVICE:
        return nm_loader_device(loader, id);
    case NM_AS_THREAD:
        return nm_loader_thread(loader, id);
    case NM_AS_HEAP:
        return nm_loader_heap(loader, id);
    case NM_AS_STACK:
        return nm_loader_stack(loader, id);
    case NM_AS_FRAME:
        return nm_loader_frame(loader, id);
    default:
        return nm_loader_module(loader, id);
    }
}

static uint64_t defined_of_sum(const nm_loader *loader, nm_column_as as, uint64_t id)
{
    const nm_definitions *all = &loader->definitions;
    const nm_id_set *ids = as == NM_AS_PROCESS  ? &all->processes.ids
                           : as == NM_AS_DEVICE ? &all->devices.ids
                           : as == NM_AS_THREAD ? &all->threads.ids
                           : as == NM_AS_HEAP   ? &all->heaps.ids
                           : as == NM_AS_STACK  ? &all->stacks.ids
                           : as == NM_AS_FRAME  ? &all->frames.ids
                                                : &all->modules.ids;

    return nm_id_set_has(ids, id) ? id : 0;
}

/* What a column of integers says; NM_NULL: nothing. */
SEEN_THROUGH nm_status integer_of(nm_loader *loader, const nm_row_column *column, const void *row, int64_t *out,
                                  nm_error *err)
{
    const nm_column_kind *kind = &column->kind;
    int64_t value = load(row, column->offset, column->bytes);
    int64_t beside = kind->beside_bytes == 0 ? 0 : load(row, kind->beside_offset, kind->beside_bytes);
    nm_status status = NM_OK;

    switch (kind->as) {
    case NM_AS_INTEGER: /* 2^63 of what an input says is no NULL: it becomes the number beside it */
        value += value == NM_NULL && kind->null == NM_NULL_NEVER;
        break;
    case NM_AS_INDEX:
        value = (int32_t)value;
        break;
    case NM_AS_NOT:
        value = value == 0;
        break;
    case NM_AS_STREAM:
        value = beside != 0 ? value : NM_NULL;
        break;
    case NM_AS_ALLOCATION:
        status = nm_loader_name_allocation(loader, (uint64_t)value, err);
        break;
    case NM_AS_OPERATION:
        status = nm_loader_name_operation(loader, (uint64_t)value, err);
        break;
    case NM_AS_BYTE_MS:
        value = (int64_t)nm_byte_ms(*(const unsigned __int128 *)(const void *)((const char *)row + column->offset));
        break;
    case NM_AS_POLICY:
        value = nm_loader_policy(loader, (uint64_t)beside, (uint64_t)value);
        break;
    case NM_AS_POOL_BYTES:
        value = nm_loader_pool_bytes(loader, (uint64_t)beside, (uint64_t)value);
        break;
    case NM_AS_DEVICE_COUNT:
        value = nm_loader_device_count(loader, (uint64_t)beside, (uint64_t)value);
        break;
    default:
        value = (int64_t)(kind->is_of_sum ? defined_of_sum(loader, kind->as, (uint64_t)value)
                                          : defined(loader, kind->as, (uint64_t)value));
    }
    *out = kind->null == NM_NULL_ZERO && value == 0 ? NM_NULL : value;
    return status;
}

/* What is no integer; false: it is one. NULL where there is no `row`. */
static bool put_other(const nm_loader *loader, const nm_row_column *column, const void *row, nm_insert *out)
{
    const void *at = row == NULL ? NULL : (const char *)row + column->offset;

    switch (column->kind.as) {
    case NM_AS_RATIO:
        nm_insert_real(out, at == NULL || *(const double *)at < 0 ? NAN : *(const double *)at);
        return true;
    case NM_AS_STRING:
        nm_insert_bytes(out, nm_loader_text(loader, at == NULL ? 0 : *(const uint64_t *)at));
        return true;
    case NM_AS_NAME:
        nm_insert_bytes(out, nm_definitions_text(&loader->definitions, at == NULL ? 0 : *(const uint64_t *)at));
        return true;
    case NM_AS_WORD:
        nm_insert_text(out, nm_word(column->kind.words, at == NULL ? UINT_MAX : *(const unsigned *)at));
        return true;
    case NM_AS_LITERAL:
        nm_insert_text(out, at == NULL ? NULL : *(const char *const *)at);
        return true;
    case NM_AS_LINE:
        nm_insert_text(out, at == NULL || *(const char *)at == 0 ? NULL : at);
        return true;
    case NM_AS_TEXT:
        nm_insert_bytes(out, at == NULL ? (nm_bytes){0} : *(const nm_bytes *)at);
        return true;
    default:
        return false;
    }
}

/* ---- A row by the list of its columns, with an insert ------------------------------------------------------------------ */

static nm_status write_row(nm_loader *loader, nm_row_kind kind, const void *row, nm_error *err)
{
    nm_insert *out = &loader->inserts[kind];
    uint64_t nulls = nm_row_tables[kind].nulls(row);
    nm_status status = NM_OK;

    for (const nm_row_column *column = nm_row_tables[kind].list(); column->name != NULL; column++, nulls >>= 1) {
        bool is_null = nulls & 1;
        int64_t value = NM_NULL;

        if (put_other(loader, column, is_null ? NULL : row, out))
            continue;
        if (column->kind.as == NM_AS_COMPUTED)
            value = computed(loader, kind, column->name, row);
        else if (status == NM_OK && !is_null)
            status = integer_of(loader, column, row, &value, err);
        nm_insert_int(out, value);
    }
    return status == NM_OK ? nm_insert_end(out, err) : status;
}

/* ---- The values of a row of a large table: straight code --------------------------------------------------------------- */

/* clang-format off */
#define ROW(name, NAME, table, writer)                                                                                 \
    static inline __attribute__((unused)) nm_status straight_##name(nm_loader *loader, const nm_##name##_row *row,     \
                                                                    int64_t *at, nm_error *err)                        \
    {                                                                                                                  \
        typedef nm_##name##_row row_type;                                                                              \
        nm_status status = NM_OK;
#define COLUMN(kind, column, path, condition)                                                                          \
        *at = NM_NULL;                                                                                                 \
        if (status == NM_OK && (condition))                                                                            \
            status = integer_of(loader, &(const nm_row_column){NM_ROW_COLUMN(kind, column, path), 0, 0}, row, at, err); \
        at++;
#define COMPUTED(name, column) *at++ = name##_##column(loader, row);
#define END(name, writer)                                                                                              \
        (void)loader, (void)row, (void)at, (void)err, (void)sizeof(row_type);                                          \
        return status;                                                                                                 \
    }
#include "rows/rows.def"
/* clang-format on */

/* ---- Large tables ------------------------------------------------------------------------------------------------ */

/* Where the values of the next row go: into the table, or among the rows that wait. Leaves *values as it is where the row is
 * not to be kept; then its values are still made, for what they refer to. */
static nm_status next_values(nm_loader *loader, nm_row_kind kind, const void *row, int64_t **values, nm_error *err)
{
    nm_retention_choice choice = NM_RETENTION_DROP;
    nm_status status = nm_retention_choose(&loader->retained, kind, row, &choice, err);

    if (status == NM_OK && choice == NM_RETENTION_WRITE)
        status = nm_bulk_next(loader->bulk_of[kind], values, err);
    else if (status == NM_OK && choice == NM_RETENTION_WAIT)
        status = nm_retention_wait(&loader->retained, row, values, err);
    return status;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

nm_status nm_row_write(nm_loader *loader, nm_row_kind kind, const void *row, nm_error *err)
{
    int64_t dropped[NM_ROW_COLUMNS_MAX], *values = dropped;
    nm_status status = NM_OK;

    if (nm_row_tables[kind].is_large)
        status = next_values(loader, kind, row, &values, err);
    if (status != NM_OK)
        return status;
    switch (kind) {
#define CASE_NONE(name, NAME)
#define CASE_ONE(name, NAME)
#define CASE_MANY(name, NAME)                                                                                          \
    case NM_ROW_##NAME:                                                                                                \
        return straight_##name(loader, row, values, err);
#define ROW(name, NAME, table, writer) CASE_##writer(name, NAME)
#include "rows/rows.def"
    default:
        return nm_row_tables[kind].name == NULL ? NM_OK : write_row(loader, kind, row, err);
    }
}
