/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that put sentences together, and the files in their order.
 */
#include "store/findings/findings.h"

#include <string.h>

#include "base/json.h"
#include "say/command.h"
#include "say/sentence.h"
#include "store/database.h"
#include "store/findings/said_text.h"

/* ---- say, said and said_line --------------------------------------------------------------------------------------- */

static void give(sqlite3_context *call, nm_json *json)
{
    if (json->status != NM_OK)
        sqlite3_result_error_nomem(call);
    else
        sqlite3_result_text64(call, (const char *)json->out->data, json->out->len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* As it is. */
static void put_part(nm_json *json, const char *name, sqlite3_value *part)
{
    const char *text = nm_db_value_text(part);

    nm_json_value(json, name, (nm_bytes){(const uint8_t *)text, strlen(text)});
}

static void put_value(nm_json *json, const char *name, sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
        nm_json_null(json, name[0] == '=' ? name + 1 : name);
        break;
    case SQLITE_INTEGER:
        nm_json_int(json, name, sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        nm_json_real(json, name, sqlite3_value_double(value));
        break;
    default:
        if (name[0] == '=')
            put_part(json, name + 1, value);
        else
            nm_json_text(json, name, nm_db_value_text(value));
    }
}

static void run_say(sqlite3_context *call, int count, sqlite3_value **values)
{
    nm_buffer out = {0};
    nm_json json = {.out = &out};

    if (count == 0 || sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    nm_json_text(&json, NULL, nm_db_value_text(values[0]));
    if (count > 2)
        nm_json_begin(&json, NULL, '{');
    for (int i = 1; i + 1 < count; i += 2)
        put_value(&json, nm_db_value_text(values[i]), values[i + 1]);
    if (count > 2)
        nm_json_end(&json, '}');
    give(call, &json);
    nm_buffer_free(&out);
}

/* The parts from `first` on; how many they are. */
static int put_parts(nm_json *json, const char *name, sqlite3_value **values, int first, int count)
{
    int part_count = 0;

    nm_json_begin(json, name, '[');
    for (int i = first; i < count; i++) {
        if (sqlite3_value_type(values[i]) == SQLITE_NULL)
            continue;
        put_part(json, NULL, values[i]);
        part_count++;
    }
    nm_json_end(json, ']');
    return part_count;
}

static void run_said(sqlite3_context *call, int count, sqlite3_value **values)
{
    nm_buffer out = {0};
    nm_json json = {.out = &out};

    if (put_parts(&json, NULL, values, 0, count) > 0)
        give(call, &json);
    nm_buffer_free(&out);
}

static void run_said_line(sqlite3_context *call, int count, sqlite3_value **values)
{
    nm_buffer out = {0};
    nm_json json = {.out = &out};

    nm_json_begin(&json, NULL, '{');
    if (count > 0 && sqlite3_value_type(values[0]) != SQLITE_NULL)
        nm_json_text(&json, "label", nm_db_value_text(values[0]));
    put_parts(&json, "said", values, 1, count);
    nm_json_end(&json, '}');
    give(call, &json);
    nm_buffer_free(&out);
}

static void run_command(sqlite3_context *call, int count, sqlite3_value **values)
{
    char text[NM_SENTENCE_BYTES];
    nm_sentence code;

    if (count != 1 || !nm_sentence_of(nm_db_value_text(values[0]), &code))
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
