/* SPDX-License-Identifier: Apache-2.0 */
#include "store/schema.h"

#include <stdlib.h>

#include "store/database.h"

#define FIRST_NUMBER_AFTER_LOAD 200

nm_status nm_schema_apply(sqlite3 *db, nm_schema_part part, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_embedded_text *file = nm_schema_files; status == NM_OK && file->name != NULL; file++) {
        int is_after = strtol(file->name, NULL, 10) >= FIRST_NUMBER_AFTER_LOAD;

        if (is_after == (part == NM_SCHEMA_VIEWS))
            status = nm_db_exec(db, file->text, err);
    }
    return status;
}
