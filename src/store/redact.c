/* SPDX-License-Identifier: Apache-2.0
 *
 * Which columns hold what. All texts are walked once to learn what there is, and once more to replace it: a mark may name a
 * host before the process does. Labels of frames are made again from what the frames are called now.
 */
#include "store/redact.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "store/database.h"
#include "store/redact_text.h"

static const struct {
    const char *table, *column;
    nm_redact_role role;
    const char *rows; /* a condition */
} columns[] = {
    {"process", "host", NM_REDACT_HOST, "1"},
    {"process", "command", NM_REDACT_COMMAND, "1"},
    {"input", "path", NM_REDACT_PATH, "1"},
    {"z_module", "path", NM_REDACT_PATH, "1"},
    {"frame", "file", NM_REDACT_PATH, "1"},
    {"frame", "module", NM_REDACT_PATH, "1"},
    {"frame", "function", NM_REDACT_FUNCTION, "1"},
    {"z_wrapper", "function", NM_REDACT_FUNCTION, "1"},
    {"plumbing", "pattern", NM_REDACT_FUNCTION, "origin = 'site rules'"},
    {"z_process_environment", "value", NM_REDACT_TEXT, "source = 'environment'"},
    {"z_process_environment", "name", NM_REDACT_TEXT, "source = 'hccl'"},
    {"thread", "name", NM_REDACT_TEXT, "1"},
    {"heap", "name", NM_REDACT_TEXT, "1"},
    {"device", "name", NM_REDACT_TEXT, "1"},
    {"operation", "name", NM_REDACT_TEXT, "1"},
    {"z_operation_sum", "name", NM_REDACT_TEXT, "1"},
    {"z_operation_memory_sum", "name", NM_REDACT_TEXT, "1"},
    {"z_operation_step_sum", "name", NM_REDACT_TEXT, "1"},
    {"z_peak_category", "own_name", NM_REDACT_TEXT, "1"},
    {"z_peak_module", "module", NM_REDACT_TEXT, "1"},
    {"moment", "name", NM_REDACT_TEXT, "1"},
    {"z_note", "text", NM_REDACT_TEXT, "1"},
    {"z_module_sample", "module", NM_REDACT_TEXT, "1"},
    {"z_device_module", "module", NM_REDACT_TEXT, "1"},
    {"z_step_anchor", "name", NM_REDACT_TEXT, "1"},
    {"z_step_anchor", "reason", NM_REDACT_TEXT, "1"},
    {"z_step_trend", "reason", NM_REDACT_TEXT, "1"},
    {"anomaly", "detail", NM_REDACT_TEXT, "1"},
};

/* Behind the place, which has no folders, a label is as nm_site_label makes it. Frames that stand for a role have neither
 * file nor module. */
static const char labels_sql[] =
    "UPDATE frame SET label = CASE WHEN file IS NULL AND module IS NULL THEN npumem_redact(3, label)"
    " ELSE npumem_base_name(coalesce(file, module))"
    " || CASE WHEN file IS NULL THEN printf('+0x%x', offset) WHEN line IS NULL THEN '' ELSE ':' || line END"
    " || CASE WHEN function IS NULL THEN '' ELSE ' ' || function END END;"
    "UPDATE plumbing SET pattern = 'rule-' || plumbing_id WHERE origin = 'site rules';"
    "INSERT INTO meta VALUES ('redacted', '1')";

_Static_assert(NM_REDACT_TEXT == 3, "labels_sql says so");

typedef struct redaction {
    nm_redact *redact; /* borrowed */
    nm_buffer out;
} redaction;

static void sql_redact(sqlite3_context *context, int count, sqlite3_value **values)
{
    redaction *work = sqlite3_user_data(context);
    int role = sqlite3_value_int(values[0]);
    const unsigned char *text = sqlite3_value_text(values[1]);
    nm_error err = {0};

    (void)count;
    if (text == NULL)
        return; /* NULL stays NULL */
    nm_bytes bytes = {text, (size_t)sqlite3_value_bytes(values[1])};
    if (nm_redact_text(work->redact, (nm_redact_role)role, bytes, &work->out, &err) == NM_OK)
        sqlite3_result_text64(context, (const char *)work->out.data, work->out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        sqlite3_result_error(context, err.text, -1);
}

static void sql_base_name(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = (const char *)sqlite3_value_text(values[0]);

    (void)count;
    sqlite3_result_text(context, nm_path_name(text), -1, SQLITE_TRANSIENT);
}

static nm_status run_on_all(sqlite3 *db, const char *form, nm_error *err)
{
    char sql[512];
    nm_status status = NM_OK;

    for (size_t i = 0; i < sizeof columns / sizeof *columns && status == NM_OK; i++) {
        snprintf(sql, sizeof sql, form, columns[i].table, columns[i].column, (int)columns[i].role, columns[i].rows);
        status = nm_db_exec(db, sql, err);
    }
    return status;
}

static nm_status replace_all(sqlite3 *db, nm_error *err)
{
    static const char learn_form[] = "SELECT count(npumem_redact(%3$d, %2$s)) FROM"
                                     " (SELECT DISTINCT %2$s FROM %1$s WHERE %4$s ORDER BY rowid)";
    static const char write_form[] = "UPDATE %1$s SET %2$s = npumem_redact(%3$d, %2$s) WHERE %2$s IS NOT NULL AND %4$s";
    nm_status status = run_on_all(db, learn_form, err);

    if (status == NM_OK)
        status = run_on_all(db, write_form, err);
    return status == NM_OK ? nm_db_exec(db, labels_sql, err) : status;
}

nm_status nm_redact_tables(sqlite3 *db, nm_redact *redact, nm_error *err)
{
    redaction work = {.redact = redact};
    int64_t redacted_count = 0;
    nm_status status = nm_db_get_int(db, "SELECT count(*) FROM meta WHERE key = 'redacted'", &redacted_count, err);

    if (status != NM_OK || redacted_count > 0)
        return status;
    status = nm_db_exec(db, "PRAGMA secure_delete = OFF", err); /* of no use: see nm_redact_wipe */
    if (status == NM_OK &&
        (sqlite3_create_function(db, "npumem_redact", 2, SQLITE_UTF8, &work, sql_redact, NULL, NULL) != SQLITE_OK ||
         sqlite3_create_function(db, "npumem_base_name", 1, SQLITE_UTF8, NULL, sql_base_name, NULL, NULL) != SQLITE_OK))
        status = nm_db_fail(db, err);
    if (status == NM_OK)
        status = replace_all(db, err);
    sqlite3_create_function(db, "npumem_redact", 2, SQLITE_UTF8, NULL, NULL, NULL, NULL);
    sqlite3_create_function(db, "npumem_base_name", 1, SQLITE_UTF8, NULL, NULL, NULL, NULL);
    nm_buffer_free(&work.out);
    return status;
}

nm_status nm_redact_wipe(sqlite3 *db, nm_error *err)
{
    return nm_db_exec(db, "VACUUM", err);
}
