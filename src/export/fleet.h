/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers of a database as tables of Parquet for a fleet's store (ClickHouse, DuckDB): what SQLite works out leaves as rows, since its
 * views would not run there. The tables and the types of their columns are those of fleet.def.
 */
#ifndef NM_EXPORT_FLEET_H
#define NM_EXPORT_FLEET_H

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"

typedef struct nm_fleet_facts { /* of a database */
    nm_buffer job;              /* recorded name of the job, with a zero byte; empty: none */
    int64_t start_ns;           /* of its first recording, since 1970; NM_NULL: not known */
    nm_buffer part; /* HOST-rA-B: the hosts and ranks that it is of, as a file's name begins; with a zero byte */
    char inputs[2 * 8 + 1]; /* XXH64 of its recordings, in hexadecimal digits */
} nm_fleet_facts;

/* Fills zeroed facts, which are the caller's to free, on failure too. `other_host`: the host's name where none is known. */
nm_status nm_fleet_look(sqlite3 *db, const char *other_host, nm_fleet_facts *facts, nm_error *err);
void nm_fleet_facts_free(nm_fleet_facts *facts);

/* The name with each byte but letters, digits, '.', '_' and '-' as %XX, as Hive names folders; behind what is in *out. NM_ERR_USAGE: it
 * is too long for a folder's name. */
nm_status nm_fleet_folder_name(const char *key, const char *name, nm_buffer *out, nm_error *err);

/* The tables, by number from 0. NULL: there are no more. */
const char *nm_fleet_table(unsigned number);
bool nm_fleet_is_detail(unsigned number);

typedef struct nm_fleet_run { /* what is the same in all rows */
    const char *job, *run;
    int64_t start_ns;   /* NM_NULL: not known */
    const char *inputs; /* of the database */
    bool has_all_steps;
} nm_fleet_run;

/* Writes the rows of a table. The caller looks at ferror(out) after fflush. */
nm_status nm_fleet_write(sqlite3 *db, unsigned number, const nm_fleet_run *run, FILE *out, nm_error *err);

#endif
