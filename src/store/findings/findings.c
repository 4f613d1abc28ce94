/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that put sentences together, and the files in their order.
 */
#include "store/findings/findings.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "say/command.h"
#include "say/sentence.h"
#include "store/database.h"
#include "store/findings/said_text.h"

/* ---- say, said and said_line --------------------------------------------------------------------------------------- */

static void give(sqlite3_context *call, nm_buffer *out, nm_status status)
{
    if (status != NM_OK)
        sqlite3_result_error_nomem(call);
    else
        sqlite3_result_text64(call, (const char *)out->data, out->len, SQLITE_TRANSIENT, SQLITE_UTF8);
    nm_buffer_free(out);
}

static nm_status put(nm_buffer *out, const char *text)
{
    return nm_buffer_append(out, text, strlen(text), NULL);
}

static nm_status put_text(nm_buffer *out, const char *text)
{
    nm_status status = put(out, "\"");

    for (; status == NM_OK && *text != 0; text++) {
        unsigned char character = (unsigned char)*text;
        char escape[8];

        if (character == '"' || character == '\\' || character < 0x20)
            snprintf(escape, sizeof escape, character < 0x20 ? "\\u%04x" : "\\%c", character);
        else
            snprintf(escape, sizeof escape, "%c", *text);
        status = put(out, escape);
    }
    return status == NM_OK ? put(out, "\"") : status;
}

static const char *text_of(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);

    return text == NULL ? "" : text;
}

static nm_status put_value(nm_buffer *out, const char *name, sqlite3_value *value)
{
    char number[40];

    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
        return put(out, "null");
    case SQLITE_INTEGER:
        snprintf(number, sizeof number, "%lld", (long long)sqlite3_value_int64(value));
        return put(out, number);
    case SQLITE_FLOAT:
        snprintf(number, sizeof number, "%.17g", sqlite3_value_double(value));
        return put(out, number);
    default:
        return name[0] == '=' ? put(out, text_of(value)) : put_text(out, text_of(value));
    }
}

static void run_say(sqlite3_context *call, int count, sqlite3_value **values)
{
    nm_buffer out = {0};
    nm_status status;

    if (count == 0 || sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    status = put_text(&out, text_of(values[0]));
    for (int i = 1; i + 1 < count && status == NM_OK; i += 2) {
        const char *name = text_of(values[i]);

        status = put(&out, i == 1 ? ",{" : ",");
        if (status == NM_OK)
            status = put_text(&out, name[0] == '=' ? name + 1 : name);
        if (status == NM_OK)
            status = put(&out, ":");
        if (status == NM_OK)
            status = put_value(&out, name, values[i + 1]);
    }
    if (status == NM_OK && count > 2)
        status = put(&out, "}");
    give(call, &out, status);
}

/* "[" and the parts from `first` on; *part_count: how many they are. */
static nm_status put_parts(nm_buffer *out, sqlite3_value **values, int first, int count, int *part_count)
{
    nm_status status = put(out, "[");

    *part_count = 0;
    for (int i = first; i < count && status == NM_OK; i++) {
        if (sqlite3_value_type(values[i]) == SQLITE_NULL)
            continue;
        if ((*part_count)++ > 0)
            status = put(out, ",");
        if (status == NM_OK)
            status = put(out, text_of(values[i]));
    }
    return status == NM_OK ? put(out, "]") : status;
}

static void run_said(sqlite3_context *call, int count, sqlite3_value **values)
{
    nm_buffer out = {0};
    int part_count;
    nm_status status = put_parts(&out, values, 0, count, &part_count);

    if (part_count > 0)
        give(call, &out, status);
    else
        nm_buffer_free(&out);
}

static void run_said_line(sqlite3_context *call, int count, sqlite3_value **values)
{
    nm_buffer out = {0};
    int part_count;
    nm_status status = put(&out, "{");

    if (status == NM_OK && count > 0 && sqlite3_value_type(values[0]) != SQLITE_NULL) {
        status = put(&out, "\"label\":");
        if (status == NM_OK)
            status = put_text(&out, text_of(values[0]));
        if (status == NM_OK)
            status = put(&out, ",");
    }
    if (status == NM_OK)
        status = put(&out, "\"said\":");
    if (status == NM_OK)
        status = put_parts(&out, values, 1, count, &part_count);
    if (status == NM_OK)
        status = put(&out, "}");
    give(call, &out, status);
}

static void run_command(sqlite3_context *call, int count, sqlite3_value **values)
{
    char text[NM_SENTENCE_BYTES];
    nm_sentence code;

    if (count != 1 || !nm_sentence_of(text_of(values[0]), &code))
        return;
    nm_sentence_put(code, NM_ENGLISH, NM_WORDS({"database", NM_COMMAND_DATABASE}, {"input", NM_COMMAND_INPUT}), text,
                    sizeof text);
    sqlite3_result_text(call, text, -1, SQLITE_TRANSIENT);
}

static const struct {
    const char *name;
    void (*run)(sqlite3_context *call, int count, sqlite3_value **values);
} functions[] = {{"say", run_say}, {"said", run_said}, {"said_line", run_said_line}, {"command", run_command}};

static nm_status set_functions(sqlite3 *db, bool is_on, nm_error *err)
{
    int result = SQLITE_OK;

    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && result == SQLITE_OK; i++)
        result = sqlite3_create_function_v2(db, functions[i].name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                            is_on ? functions[i].run : NULL, NULL, NULL, NULL);
    return result == SQLITE_OK ? NM_OK : nm_db_fail(db, err);
}

/* ---- The files ----------------------------------------------------------------------------------------------------- */

/* A file that has nothing to do costs SQLite the reading of large views all the same. */
static nm_status run_file(sqlite3 *db, const nm_embedded_text *file, nm_error *err)
{
    static const char word[] = "\n-- Only if: ";
    const char *condition = strstr(file->text, word);
    int64_t is_due = 1;
    nm_status status = NM_OK;

    if (condition != NULL) {
        condition += sizeof word - 1;
        char *sql = sqlite3_mprintf("%.*s", (int)strcspn(condition, "\n"), condition);

        status = nm_db_get_int(db, sql, &is_due, err);
        sqlite3_free(sql);
    }
    return status == NM_OK && is_due != 0 ? nm_db_exec(db, file->text, err) : status;
}

nm_status nm_findings_write(sqlite3 *db, nm_error *err)
{
    nm_status status = set_functions(db, true, err);

    if (status == NM_OK)
        status = nm_said_text_add(db, err);
    for (const nm_embedded_text *file = nm_finding_files; file->name != NULL && status == NM_OK; file++)
        status = run_file(db, file, err);
    if (status == NM_OK)
        status = set_functions(db, false, err);
    return status;
}
