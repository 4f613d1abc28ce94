/* SPDX-License-Identifier: Apache-2.0 */
#include "store/schema.h"

#include <stdlib.h>

#include "store/database.h"

#define FIRST_NUMBER_OF_SUMS     100
#define FIRST_NUMBER_OF_VERDICTS 110
#define FIRST_NUMBER_OF_VIEWS    200

static nm_schema_part part_of(const nm_embedded_text *file)
{
    long number = strtol(file->name, NULL, 10);

    return number < FIRST_NUMBER_OF_SUMS       ? NM_SCHEMA_TABLES
           : number < FIRST_NUMBER_OF_VERDICTS ? NM_SCHEMA_SUMS
           : number < FIRST_NUMBER_OF_VIEWS    ? NM_SCHEMA_VERDICTS
                                               : NM_SCHEMA_VIEWS;
}

nm_status nm_schema_apply(sqlite3 *db, nm_schema_part part, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_embedded_text *file = nm_schema_files; status == NM_OK && file->name != NULL; file++)
        if (part_of(file) == part)
            status = nm_db_exec(db, file->text, err);
    return status;
}
