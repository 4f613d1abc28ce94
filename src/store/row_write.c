/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows into their tables: rows.def expanded into one function a kind, which says the value of each column in turn. A
 * prepared insert and the bulk writer are told the same values; the compiler chooses by where they go. What a reference
 * does (an unknown one becomes NULL and is counted, one to a row is remembered until that row is there) comes with the
 * kind of its member. What a table needs beyond its rows is in loader_rows.c.
 */
#include "store/row_write.h"

#include <limits.h>
#include <math.h>

#include "base/number.h"
#include "rows/words.h"
#include "store/verdicts/verdicts.h"

/* ---- Where values go --------------------------------------------------------------------------------------------- */

static inline void put_next(int64_t **at, int64_t value)
{
    *(*at)++ = value;
}

#define PUT(value) _Generic(out, nm_insert * : nm_insert_int, int64_t * * : put_next)(out, value)

/* ---- Values, by the kinds of rows/kinds.h: each is a statement ----------------------------------------------------- */

/* clang-format off */
#define PUT_IF(condition, value)  PUT((condition) ? (value) : NM_NULL);
#define AS_IS(path, condition)    PUT_IF(condition, (int64_t)row->path)
#define NOT_ZERO(path, condition) PUT_IF((condition) && row->path != 0, (int64_t)row->path)

#define PUT_PROCESS(path, condition) PUT_IF(condition, nm_id_or_null(nm_loader_process(loader, row->path)))
#define PUT_DEVICE(path, condition)  PUT_IF(condition, nm_id_or_null(nm_loader_device(loader, row->path)))
#define PUT_THREAD(path, condition)  PUT_IF(condition, nm_id_or_null(nm_loader_thread(loader, row->path)))
#define PUT_HEAP(path, condition)    PUT_IF(condition, nm_id_or_null(nm_loader_heap(loader, row->path)))
#define PUT_STACK(path, condition)   PUT_IF(condition, nm_id_or_null(nm_loader_stack(loader, row->path)))
#define PUT_FRAME(path, condition)   PUT_IF(condition, nm_id_or_null(nm_loader_frame(loader, row->path)))
#define PUT_MODULE(path, condition)  PUT_IF(condition, nm_id_or_null(nm_loader_module(loader, row->path)))

#define NAMED(path, condition, name_row)                                                                               \
    if (status == NM_OK && (condition))                                                                                \
        status = name_row(loader, row->path, err);                                                                     \
    NOT_ZERO(path, condition)
#define PUT_ALLOCATION(path, condition) NAMED(path, condition, nm_loader_name_allocation)
#define PUT_OPERATION(path, condition)  NAMED(path, condition, nm_loader_name_operation)

#define PUT_ID                   AS_IS
#define PUT_LINK                 NOT_ZERO
#define PUT_COUNT                AS_IS
#define PUT_BYTES                AS_IS
#define PUT_NS                   AS_IS
#define PUT_ADDRESS              AS_IS
#define PUT_HANDLE               AS_IS
#define PUT_INDEX                AS_IS
#define PUT_FLAG                 AS_IS
#define PUT_NOT(path, condition) PUT_IF(condition, !row->path)
#define PUT_CODE(type)           AS_IS
#define PUT_ZERO_IS_NULL(kind)   NOT_ZERO

#define PUT_SEQ                     AS_IS
#define PUT_TIME                    AS_IS
#define PUT_NUMBER                  AS_IS
#define PUT_RATIO(path, condition)  nm_insert_real(out, !(condition) || row->path < 0 ? NAN : row->path);
#define PUT_STREAM(path, condition) PUT_IF((condition) && row->has_stream, (int64_t)row->path)

#define PUT_STRING(path, condition)  nm_insert_bytes(out, nm_loader_text(loader, (condition) ? row->path : 0));
#define PUT_WORD(type)               nm_insert_text(out, nm_word(&type##_words, WORD_NUMBER
#define WORD_NUMBER(path, condition) (condition) ? (unsigned)row->path : UINT_MAX));
#define PUT_LITERAL(path, condition) nm_insert_text(out, (condition) ? row->path : NULL);
#define PUT_TEXT(path, condition)    nm_insert_bytes(out, (condition) ? row->path : (nm_bytes){0});
#define PUT_LINE(path, condition)    nm_insert_text(out, (condition) && row->path.text[0] != 0 ? row->path.text : NULL);

#define PUT_OF_SUM(kind)                     PUT_OF_SUM_##kind
#define PUT_OF_SUM_LIST(path, condition, of) PUT_IF((condition) && nm_id_set_has(&(of).ids, row->path), (int64_t)row->path)
#define PUT_OF_SUM_PROCESS(path, condition)  PUT_OF_SUM_LIST(path, condition, loader->definitions.processes)
#define PUT_OF_SUM_DEVICE(path, condition)   PUT_OF_SUM_LIST(path, condition, loader->definitions.devices)
#define PUT_OF_SUM_HEAP(path, condition)     PUT_OF_SUM_LIST(path, condition, loader->definitions.heaps)
#define PUT_OF_SUM_STACK(path, condition)    PUT_OF_SUM_LIST(path, condition, loader->definitions.stacks)
#define PUT_OF_SUM_THREAD(path, condition)   PUT_OF_SUM_LIST(path, condition, loader->definitions.threads)
#define PUT_OF_SUM_FRAME(path, condition)    PUT_OF_SUM_LIST(path, condition, loader->definitions.frames)
#define PUT_OF_SUM_MODULE(path, condition)   PUT_OF_SUM_LIST(path, condition, loader->definitions.modules)

#define PUT_STREAM_OF_SUM   PUT_STREAM
#define PUT_NAME(path, condition)                                                                                      \
    nm_insert_bytes(out, nm_definitions_text(&loader->definitions, (condition) ? row->path : 0));
#define PUT_BYTE_S(path, condition)  nm_insert_real(out, (condition) ? (double)row->path / 1e9 : NAN);
#define PUT_BYTE_MS(path, condition) PUT_IF(condition, (int64_t)nm_byte_ms(row->path))

#define PUT_POLICY(path, condition)     PUT_IF(condition, nm_loader_policy(loader, row->heap_id, row->path))
#define PUT_POOL_BYTES(path, condition) PUT_IF(condition, nm_loader_pool_bytes(loader, row->heap_id, row->path))
#define PUT_DEVICE_COUNT(path, condition)                                                                              \
    PUT_IF(condition, nm_loader_device_count(loader, row->heap_id, row->path))
/* clang-format on */

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

/* ---- A function a kind ------------------------------------------------------------------------------------------- */

/* clang-format off */
#define BEGIN_ONE(name)                                                                                                \
    static nm_status write_##name(nm_loader *loader, const nm_##name##_row *row, nm_insert *out, nm_error *err)        \
    {                                                                                                                  \
        nm_status status = NM_OK;
#define END_ONE                                                                                                        \
        (void)loader;                                                                                                  \
        return status == NM_OK ? nm_insert_end(out, err) : status;                                                     \
    }
#define BEGIN_MANY(name)                                                                                               \
    static nm_status write_##name(nm_loader *loader, const nm_##name##_row *row, int64_t *values, nm_error *err)       \
    {                                                                                                                  \
        int64_t *at = values, **out = &at;                                                                             \
        nm_status status = NM_OK;
#define END_MANY                                                                                                       \
        (void)err;                                                                                                     \
        return status;                                                                                                 \
    }
#define BEGIN_NONE(name)
#define END_NONE

#define ROW(name, NAME, table, writer)        BEGIN_##writer(name)
#define COLUMN(kind, column, path, condition) PUT_##kind(path, condition)
#define COMPUTED(name, column)                PUT(name##_##column(loader, row));
#define END(name, writer)                     END_##writer
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
#define CASE_ONE(name, NAME)                                                                                           \
    case NM_ROW_##NAME:                                                                                                \
        return write_##name(loader, row, &loader->inserts[kind], err);
#define CASE_MANY(name, NAME)                                                                                          \
    case NM_ROW_##NAME:                                                                                                \
        return write_##name(loader, row, values, err);
#define ROW(name, NAME, table, writer) CASE_##writer(name, NAME)
#include "rows/rows.def"
    default:
        return NM_OK;
    }
}
