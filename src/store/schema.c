/* SPDX-License-Identifier: Apache-2.0
 *
 * The number of a file says which part it is of; the files stand in the order of their numbers.
 */
#include "store/schema.h"

#include <stdlib.h>

#include "store/database.h"

#define FIRST_NUMBER_OF_VIEWS 200

static nm_schema_part part_of(const nm_embedded_text *file)
{
    return strtol(file->name, NULL, 10) < FIRST_NUMBER_OF_VIEWS ? NM_SCHEMA_TABLES : NM_SCHEMA_VIEWS;
}

nm_status nm_schema_apply(sqlite3 *db, nm_schema_part part, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_embedded_text *file = nm_schema_files; status == NM_OK && file->name != NULL; file++)
        if (part_of(file) == part)
            status = nm_db_exec(db, file->text, err);
    return status;
}
