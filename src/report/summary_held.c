/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools say what of them is active and what is free; what is under half a percent of all is left out.
 */
#include "report/summary_held.h"

#include "base/human.h"
#include "store/database.h"

#define NAME_COLUMNS   38
#define COMPONENTS_MAX 6
#define TEXT_BYTES     256

/* Its components, the largest first: name, bytes, of pools active and free bytes; and what the device had left. */
#define COMPONENTS                                                                                                     \
    "SELECT CASE c.component WHEN 'POOL' THEN c.heap WHEN 'PTA' THEN c.heap WHEN 'WORKSPACE' THEN c.heap"              \
    " WHEN 'APP' THEN 'program' WHEN 'PHYSICAL' THEN 'physical, not mapped' WHEN 'PAGE ROUNDING' THEN"                 \
    " 'rest of whole pages' WHEN 'RECORDED PROCESSES' THEN 'other recorded processes' WHEN 'OTHER PROCESSES' THEN"     \
    " 'other processes' WHEN 'UNEXPLAINED' THEN 'unexplained' ELSE c.component END,"                                   \
    " c.bytes, c.active_bytes, c.free_bytes, o.free_bytes FROM out_of_memory AS o JOIN _out_of_memory_component AS c"  \
    " ON c.out_of_memory_id = o.out_of_memory_id WHERE o.out_of_memory_id = ?1 AND c.component <> 'DEVICE USED'"       \
    " AND c.bytes <> 0 AND abs(c.bytes) * 200 >= o.own_bytes + coalesce(o.other_bytes, 0)"                             \
    " ORDER BY c.bytes DESC, c.component, c.heap LIMIT ?2"

static void write_component(sqlite3_stmt *row, const char *before, FILE *out)
{
    char bytes[NM_HUMAN_BYTES], active[NM_HUMAN_BYTES], free_text[NM_HUMAN_BYTES], name[TEXT_BYTES];

    fprintf(out, "%s%s %s", before, nm_human_text(name, sizeof name, nm_db_text(row, 0), NAME_COLUMNS),
            nm_human_bytes(bytes, sqlite3_column_int64(row, 1)));
    if (!nm_db_is_null(row, 2))
        fprintf(out, " (%s active, %s free)", nm_human_bytes(active, sqlite3_column_int64(row, 2)),
                nm_human_bytes(free_text, sqlite3_column_int64(row, 3)));
}

nm_status nm_summary_write_held(sqlite3 *db, int64_t out_of_memory_id, FILE *out, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    char left[NM_HUMAN_BYTES] = "";
    const char *before = "  Held then: ";
    nm_status status = nm_db_prepare(db, COMPONENTS, &row, err);
    int code = SQLITE_DONE;

    if (status == NM_OK) {
        sqlite3_bind_int64(row, 1, out_of_memory_id);
        sqlite3_bind_int(row, 2, COMPONENTS_MAX);
    }
    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        if (!nm_db_is_null(row, 4))
            nm_human_bytes(left, sqlite3_column_int64(row, 4));
        write_component(row, before, out);
        before = ", ";
    }
    if (before[0] == ',')
        fprintf(out, "%s%s%s\n", left[0] == 0 ? "" : "; ", left, left[0] == 0 ? "" : " left of the device");
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}
