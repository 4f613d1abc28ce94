/* SPDX-License-Identifier: Apache-2.0
 *
 * What rows.def says of tables, as data, and the words of enums.
 */
#include "rows/rows.h"

#include <string.h>

#include "rows/words.h"

#define TABLE_ONE(table)  #table
#define TABLE_MANY(table) #table
#define TABLE_NONE(table) NULL

enum { IS_LARGE_NONE = false, IS_LARGE_ONE = false, IS_LARGE_MANY = true };

/* clang-format off */
#define ROW(name, NAME, table, writer)                                                                                 \
    static const nm_row_column *columns_of_##name(void)                                                                \
    {                                                                                                                  \
        typedef nm_##name##_row row_type;                                                                              \
        static const nm_row_column columns[] = {
#define COLUMN(kind, column, path, condition) {NM_ROW_COLUMN(kind, column, path), 0, 0},
#define COLUMN_WITH(flag, kind, column, path)                                                                          \
            {NM_ROW_COLUMN(kind, column, path), offsetof(row_type, flag), sizeof(((row_type *)0)->flag)},
#define COMPUTED(name, column)                {#column, {.as = NM_AS_COMPUTED}, 0, 0, 0, 0},
#define END(name, writer)                                                                                              \
            {0}};                                                                                                      \
        (void)sizeof(row_type);                                                                                        \
        return columns;                                                                                                \
    }
#include "rows/rows.def"

#define ROW(name, NAME, table, writer)                                                                                 \
    static uint64_t nulls_of_##name(const void *of)                                                                    \
    {                                                                                                                  \
        const nm_##name##_row *row = of;                                                                               \
        uint64_t nulls = 0, bit = 1;
#define COLUMN(kind, column, path, condition)                                                                          \
        nulls |= (condition) ? 0 : bit;                                                                                \
        bit <<= 1;
#define COMPUTED(name, column) bit <<= 1;
#define END(name, writer)                                                                                              \
        (void)row, (void)bit;                                                                                          \
        return nulls;                                                                                                  \
    }
#include "rows/rows.def"

const nm_row_table nm_row_tables[NM_ROW_KINDS] = {
#define ROW(name, NAME, table, writer)        [NM_ROW_##NAME] = {TABLE_##writer(table), ""
#define COLUMN(kind, column, path, condition) #column " "
#define COMPUTED(name, column)                #column " "
#define END(name, writer)                                                                                              \
    , IS_LARGE_##writer, sizeof(nm_##name##_row), columns_of_##name, nulls_of_##name},
#include "rows/rows.def"
};
/* clang-format on */

#define ROW(name, NAME, table, writer)                                                                                 \
    _Static_assert(NM_COLUMNS_OF_##NAME <= NM_ROW_COLUMNS_MAX, #name " has too many columns");
#include "rows/rows.def"

#define WORDS(type, ...)                                                                                               \
    static const char *const type##_texts[] = {__VA_ARGS__};                                                           \
    const nm_words type##_words = {type##_texts, sizeof type##_texts / sizeof type##_texts[0]};

WORDS(nm_graph_end, [NM_GRAPH_LIVES] = "lives", [NM_GRAPH_DESTROYED] = "destroyed", [NM_GRAPH_RESET] = "reset",
      [NM_GRAPH_FAILED] = "failed")
WORDS(nm_out_of_memory_outcome, [NM_OUTCOME_UNKNOWN] = "unknown", [NM_OUTCOME_RECOVERED] = "recovered",
      [NM_OUTCOME_FATAL] = "fatal", [NM_OUTCOME_OPEN] = "open")
WORDS(nm_step_source, [NM_STEP_MARKED] = "marked", [NM_STEP_INFERRED] = "inferred")
WORDS(nm_anchor_kind, [NM_ANCHOR_NONE] = "none", [NM_ANCHOR_MARKED] = "marked", [NM_ANCHOR_SITE] = "site",
      [NM_ANCHOR_RANGE] = "range", [NM_ANCHOR_OPTIMIZER] = "optimizer", [NM_ANCHOR_GRAPH] = "graph")
WORDS(nm_size_basis, [NM_BASIS_REQUESTED] = "requested", [NM_BASIS_BLOCK] = "block")
WORDS(nm_reserved_source, [NM_RESERVED_SEGMENTS] = "segments", [NM_RESERVED_STATED] = "stated")
WORDS(nm_process_end, [NM_PROCESS_RUNNING] = "running", [NM_PROCESS_EXIT] = "exit", [NM_PROCESS_SIGNAL] = "signal",
      [NM_PROCESS_EXEC] = "exec")
WORDS(nm_baseline, [NM_BASELINE_NONE] = "none", [NM_BASELINE_KNOWN] = "known", [NM_BASELINE_UNKNOWN] = "unknown")

const char *nm_word(const nm_words *words, unsigned number)
{
    return number < words->count ? words->texts[number] : NULL;
}

unsigned nm_word_number(const nm_words *words, const char *word)
{
    for (unsigned number = 0; number < words->count; number++)
        if (words->texts[number] != NULL && strcmp(words->texts[number], word) == 0)
            return number;
    return 0;
}
