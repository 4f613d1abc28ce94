/* SPDX-License-Identifier: Apache-2.0
 *
 * Both read the finding's own words the same way, and cut nothing that a line of text has room for.
 */
#include "store/findings/said_text.h"

#include <stdio.h>
#include <string.h>

#include "say/said.h"
#include "store/database.h"

#define COLUMNS        200 /* of a site or a heap */
#define LINES_BYTES    8192
#define ARGUMENT_COUNT 9

typedef struct speech {
    nm_listener to;
    nm_said_of of;
    const char *json;
} speech;

static bool has(sqlite3_value *value)
{
    return sqlite3_value_type(value) != SQLITE_NULL;
}

static speech read_speech(sqlite3_value **values)
{
    return (speech){
        .json = nm_db_value_text(values[1]),
        .to = {sqlite3_value_int(values[0]) == 1 ? NM_CHINESE : NM_ENGLISH, sqlite3_value_int(values[6]) != 0, COLUMNS,
               COLUMNS},
        .of = {{has(values[2]), has(values[3]), has(values[4]), sqlite3_value_int64(values[2]),
                sqlite3_value_int64(values[3]), sqlite3_value_int64(values[4]), nm_db_value_text(values[5])},
               nm_db_value_text(values[7]),
               nm_db_value_text(values[8])},
    };
}

static void refuse(sqlite3_context *call)
{
    sqlite3_result_error(call, "what a finding says cannot be read", -1);
}

static void run_text(sqlite3_context *call, int count, sqlite3_value **values)
{
    char text[NM_SENTENCE_BYTES];

    (void)count;
    if (!has(values[1]))
        return;
    speech s = read_speech(values);
    if (nm_said_put(&s.to, &s.of, &s.json, text, sizeof text))
        sqlite3_result_text(call, text, -1, SQLITE_TRANSIENT);
    else
        refuse(call);
}

static void run_lines(sqlite3_context *call, int count, sqlite3_value **values)
{
    char text[NM_SENTENCE_BYTES], lines[LINES_BYTES] = "";
    nm_sentence label;

    (void)count;
    if (!has(values[1]))
        return;
    speech s = read_speech(values);
    for (size_t len = 0; s.json != NULL && nm_said_next_line(&s.json, &label); len = strlen(lines)) {
        if (!nm_said_put(&s.to, &s.of, &s.json, text, sizeof text))
            break;
        snprintf(lines + len, sizeof lines - len, "%s%s%s%s", len == 0 ? "" : "\n",
                 nm_sentence_row(label, s.to.language), label == NM_SAY_NOTHING ? "" : "  ", text);
    }
    if (s.json == NULL)
        refuse(call);
    else
        sqlite3_result_text(call, lines, -1, SQLITE_TRANSIENT);
}

nm_status nm_said_text_add(sqlite3 *db, nm_error *err)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int result = sqlite3_create_function_v2(db, "said_text", ARGUMENT_COUNT, flags, NULL, run_text, NULL, NULL, NULL);

    if (result == SQLITE_OK)
        result = sqlite3_create_function_v2(db, "said_lines", ARGUMENT_COUNT, flags, NULL, run_lines, NULL, NULL, NULL);
    return result == SQLITE_OK ? NM_OK : nm_db_fail(db, err);
}
