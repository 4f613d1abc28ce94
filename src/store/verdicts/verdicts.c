/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the passes over stored rows. A pass is a file of SQL, or a function where SQL would not say it; it reads
 * tables that passes above it have filled, and no pass below.
 */
#include "store/verdicts/verdicts.h"

#include <assert.h>
#include <string.h>

#include "store/bulk/allocation_outstanding.sql.h"
#include "store/database.h"
#include "store/verdicts/outstanding.h"
#include "store/verdicts/rising.h"
#include "store/verdicts/site_lifetimes.h"
#include "store/verdicts/site_steps.h"
#include "store/verdicts/sites_of_stacks.h"
#include "store/verdicts/trend.h"
#include "store/verdicts/verdict.h"

typedef struct stored_pass {
    const char *gives; /* tables that it fills or sets right */
    const char *sql;   /* its file, or NULL: */
    nm_status (*run)(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err);
    bool is_of_merged; /* it runs there, too */
} stored_pass;

static nm_status make_index(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    (void)settings;
    return nm_allocation_outstanding_run(db, err);
}

static const stored_pass passes[] = {
    {"z_heap_sum: costs", .sql = "costs.sql"},
    {"z_pool_miss, z_pool_miss_sum: what was cold", .sql = "misses.sql"},
    {"the sites of stacks", .run = nm_sites_of_stacks_read},
    {"z_site_step, z_site_growth", .run = nm_site_steps_write},
    {"z_site_lifetime", .run = nm_site_lifetimes_write},
    {"z_site_floor", .sql = "site_floors.sql"},
    {"input: how many processes", .sql = "processes.sql"},
    {"z_device_module", .sql = "device_modules.sql"},
    {"z_out_of_memory_chain: the pool that asked", .sql = "out_of_memory_pools.sql"},
    {"all that says what pools reserved", .sql = "reserved.sql"},
    {"z_step_trend", .run = nm_trend_write},
    {"index allocation_outstanding, unless it came with the rows", .run = make_index, .is_of_merged = true},
    {"z_hardware_sample, z_growth_step", .sql = "outstanding.sql", .is_of_merged = true},
    {"z_outstanding_sum, z_outstanding_birth, z_heap_sum", .run = nm_outstanding_write, .is_of_merged = true},
    {"z_site_verdict: what grows from step to step", .run = nm_verdict_write, .is_of_merged = true},
    {"z_site_verdict: what only replaces others, or may be a queue", .sql = "replaced.sql"},
    {"z_site_verdict: what rises in a server", .run = nm_rising_write},
    {"z_site_verdict: sizes that grow where a site does not say it", .sql = "grown_sizes.sql", .is_of_merged = true},
    {"z_leaked_sum, z_leak_sum, z_site_verdict: what is held to the end", .sql = "leaks.sql", .is_of_merged = true},
    {"z_out_of_memory_leak", .sql = "out_of_memory_leaks.sql", .is_of_merged = true},
};

nm_verdict_rows nm_verdict_rows_none(void)
{
    return (nm_verdict_rows){.step_changes.row_bytes = sizeof(nm_step_site_row),
                             .outstanding.sum = &nm_sum_of_outstanding};
}

void nm_verdict_rows_free(nm_verdict_rows *rows)
{
    nm_kept_rows_free(&rows->step_changes);
    nm_buffer_free(&rows->lifetimes);
    nm_sum_table_free(&rows->outstanding);
    nm_map_free(&rows->site_of);
}

static nm_status run_file(sqlite3 *db, const char *name, nm_error *err)
{
    const nm_embedded_text *file = nm_verdict_files;

    while (file->name != NULL && strcmp(file->name, name) != 0)
        file++;
    assert(file->name != NULL);
    return nm_db_exec(db, file->text, err);
}

nm_status nm_verdicts_begin(sqlite3 *db, nm_error *err)
{
    return run_file(db, "begin.sql", err);
}

nm_status nm_verdicts_run(sqlite3 *db, nm_verdicts_of of, const nm_verdict_settings *settings, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < sizeof passes / sizeof passes[0] && status == NM_OK; i++) {
        const stored_pass *pass = &passes[i];

        if (of == NM_VERDICTS_OF_MERGED && !pass->is_of_merged)
            continue;
        status = pass->sql != NULL ? run_file(db, pass->sql, err) : pass->run(db, settings, err);
    }
    return status;
}
