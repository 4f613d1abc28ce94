/* SPDX-License-Identifier: Apache-2.0
 *
 * sql_header [--check] src/FOLDER/NAME.sql...: makes NAME.sql.h of each NAME.sql that is named, or says which header is not what it would
 * make (--check). The statement is prepared against an empty database of this schema, so SQLite itself says what its columns and
 * parameters are; their types follow from their names. Not installed, and no step of a build: headers are in the tree.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/database.h"
#include "store/question.h"
#include "store/schema.h"

typedef struct statement {
    const char *path;       /* of the file */
    char folder[64];        /* below src/, as "report" or "tool/diff" */
    char name[64];          /* of the file without .sql */
    char *text;             /* all of the file; owned */
    sqlite3_stmt *prepared; /* owned; the first of several */
    bool is_script;         /* it has several */
} statement;

#define LINE_COLUMNS 118

/* In lines of their own. */
static const char after[] = "-- After: ", with[] = "-- With: ", rows_as[] = "-- Rows as: ";

static int fault(const statement *from, const char *what, const char *detail)
{
    fprintf(stderr, "sql_header: %s: %s%s\n", from->path, what, detail);
    return 1;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

static nm_column_type type_of(const char *name)
{
    static const char *const reals[] = {"_ratio", "_rate", "_per_step", "_per_hour", "_value", "_hours", NULL};
    static const char *const integers[] = {"_bytes",  "_ns",      "_count",      "_seq",    "_id",
                                           "_number", "_status",  "_code",       "_us",     "_offset",
                                           "_step",   "_ordinal", "_generation", "_minute", NULL};
    static const char *const words[] = {"rank",   "pid",    "tid",        "device", "ordinal", "seq",   "ns",
                                        "number", "stream", "address",    "bytes",  "amount",  "count", "offset",
                                        "line",   "step",   "generation", "minute", NULL};

    if (strncmp(name, "is_", 3) == 0 || strncmp(name, "has_", 4) == 0)
        return NM_COLUMN_FLAG;
    for (size_t i = 0; reals[i] != NULL; i++)
        if (ends_with(name, reals[i]))
            return NM_COLUMN_REAL;
    for (size_t i = 0; integers[i] != NULL; i++)
        if (ends_with(name, integers[i]))
            return NM_COLUMN_INTEGER;
    return is_one_of(name, words) ? NM_COLUMN_INTEGER : NM_COLUMN_TEXT;
}

/* ---- What is there ---- */

static void put(nm_buffer *out, const char *text)
{
    nm_buffer_append(out, text, strlen(text), NULL);
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    nm_buffer text = {0};
    char block[4096];
    size_t got;

    while (file != NULL && (got = fread(block, 1, sizeof block, file)) > 0)
        nm_buffer_append(&text, block, got, NULL);
    if (file == NULL || ferror(file) || nm_buffer_append(&text, "", 1, NULL) != NM_OK)
        nm_buffer_free(&text);
    if (file != NULL)
        fclose(file);
    return (char *)text.data;
}

/* The path's last folder below src/, and the name. */
static int take_path(statement *to)
{
    const char *below = strstr(to->path, "src/"), *slash = strrchr(to->path, '/');

    for (const char *at = below; at != NULL; at = strstr(at + 1, "/src/"))
        below = at[0] == '/' ? at + 1 : at;
    if (below == NULL || slash == NULL || slash - below < 4 || !ends_with(slash, ".sql"))
        return fault(to, "is not src/FOLDER/NAME.sql", "");
    snprintf(to->folder, sizeof to->folder, "%.*s", (int)(slash - below - 4), below + 4);
    snprintf(to->name, sizeof to->name, "%.*s", (int)(strlen(slash + 1) - 4), slash + 1);
    return 0;
}

/* What it says of itself: "-- NAME.sql: ..." in its first lines. */
static int take_comment(statement *to)
{
    size_t name_len = strlen(to->name);

    if (strncmp(to->text, "-- ", 3) != 0 || strncmp(to->text + 3, to->name, name_len) != 0 ||
        strncmp(to->text + 3 + name_len, ".sql: ", 6) != 0)
        return fault(to, "does not begin with '-- NAME.sql: what it asks'", "");
    return 0;
}

/* The file beside it that a line names from `name` on; to be freed. NULL: it cannot be read, which is said. */
static char *read_beside(const statement *from, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%.*s/%.*s", (int)(strrchr(from->path, '/') - from->path), from->path,
             (int)strcspn(name, "\n"), name);
    char *text = read_text(path);
    if (text == NULL)
        fault(from, "what it names cannot be read: ", path);
    return text;
}

/* Lines "-- After: FILE": statements of a file beside it that make what it reads, temporary tables say. */
static int run_before(statement *from, sqlite3 *db)
{
    int faults = 0;

    for (const char *at = strstr(from->text, after); at != NULL && faults == 0; at = strstr(at + 1, after)) {
        nm_error err = {0};
        char *text = read_beside(from, at + strlen(after));

        if (text == NULL || nm_db_exec(db, text, &err) != NM_OK)
            faults = text == NULL ? 1 : fault(from, "what it comes after cannot be run: ", err.text);
        free(text);
    }
    return faults;
}

/* Lines "-- With: FILE": tables of a WITH that several statements have, from files beside it, come before its own. */
static int add_parts(statement *to)
{
    nm_buffer parts = {0};
    const char *begin = to->text;
    int faults = 0;

    for (const char *at = strstr(to->text, with); at != NULL && faults == 0; at = strstr(at + 1, with)) {
        char *part = read_beside(to, at + strlen(with));

        faults = part == NULL;
        put(&parts, parts.len == 0 ? "WITH " : ", ");
        put(&parts, part == NULL ? "" : part);
        free(part);
    }
    while (strncmp(begin, "--", 2) == 0)
        begin += strcspn(begin, "\n") + 1;
    if (parts.len > 0 && faults == 0) {
        bool has_own = strncmp(begin, "WITH", 4) == 0;
        nm_buffer whole = {0};

        nm_buffer_append(&whole, to->text, (size_t)(begin - to->text), NULL);
        nm_buffer_append(&whole, parts.data, parts.len, NULL);
        put(&whole, has_own ? "," : "");
        nm_buffer_append(&whole, begin + (has_own ? 4 : 0), strlen(begin) + 1 - (has_own ? 4 : 0), NULL);
        free(to->text);
        to->text = (char *)whole.data;
    }
    nm_buffer_free(&parts);
    return faults;
}

/* All statements of one text, which is to run as a whole. */
static int run_script(const statement *from, sqlite3 *db)
{
    int faults = 0;

    for (const char *at = from->text; *at != 0 && faults == 0;) {
        sqlite3_stmt *one = NULL;

        if (sqlite3_prepare_v2(db, at, -1, &one, &at) != SQLITE_OK)
            faults = fault(from, "", sqlite3_errmsg(db));
        else if (one != NULL && (sqlite3_bind_parameter_count(one) > 0 || sqlite3_column_count(one) > 0))
            faults = fault(from, "one of several statements has rows or parameters: ", sqlite3_sql(one));
        else if (one != NULL && sqlite3_step(one) != SQLITE_DONE)
            faults = fault(from, "", sqlite3_errmsg(db));
        sqlite3_finalize(one);
    }
    return faults;
}

static int prepare(statement *to, sqlite3 *db)
{
    const char *rest = NULL;

    if (sqlite3_prepare_v2(db, to->text, -1, &to->prepared, &rest) != SQLITE_OK)
        return fault(to, "", sqlite3_errmsg(db));
    if (to->prepared == NULL)
        return fault(to, "has no statement", "");
    while (isspace((unsigned char)*rest) || strncmp(rest, "--", 2) == 0)
        rest += *rest == '-' ? strcspn(rest, "\n") : 1;
    to->is_script = *rest != 0;
    return to->is_script ? run_script(to, db) : 0;
}

/* A line "-- Rows as: FILE": its rows are read as those of the statement in a file beside it. *other: that, prepared; NULL: it
 * has rows of its own. */
static int find_like(const statement *from, sqlite3 *db, sqlite3_stmt **other)
{
    const char *at = strstr(from->text, rows_as);
    statement like = {.path = from->path};
    int faults = 0;

    *other = NULL;
    if (at == NULL)
        return 0;
    like.text = read_beside(from, at + strlen(rows_as));
    if (like.text == NULL || add_parts(&like) != 0 || prepare(&like, db) != 0)
        faults = 1;
    int count = faults == 0 ? sqlite3_column_count(like.prepared) : 0;
    for (int i = 0; i < count && faults == 0; i++)
        if (count != sqlite3_column_count(from->prepared) ||
            strcmp(sqlite3_column_name(like.prepared, i), sqlite3_column_name(from->prepared, i)) != 0)
            faults = fault(from, "its rows are not as it says: ", sqlite3_column_name(like.prepared, i));
    *other = like.prepared;
    free(like.text);
    return faults;
}

/* ---- What is made of it ---- */

static void put_upper(nm_buffer *out, const char *text)
{
    for (; *text != 0; text++) {
        char upper = (char)(isalnum((unsigned char)*text) ? toupper((unsigned char)*text) : '_');
        nm_buffer_append(out, &upper, 1, NULL);
    }
}

/* NM_FOLDER_NAME_SQL_H */
static void put_guard(nm_buffer *out, const statement *from)
{
    put(out, "NM_");
    put_upper(out, from->folder);
    put(out, "_");
    put_upper(out, from->name);
    put(out, "_SQL_H");
}

/* Words of a macro, in lines of at most LINE_COLUMNS. */
typedef struct filler {
    nm_buffer *out;
    size_t columns; /* of the line so far */
} filler;

static void fill(filler *f, const char *word)
{
    if (f->columns + strlen(word) + 2 > LINE_COLUMNS) {
        put(f->out, " \\\n   ");
        f->columns = strlen("   ");
    }
    put(f->out, word);
    f->columns += strlen(word);
}

static int check_columns(const statement *from, int count)
{
    for (int i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(from->prepared, i);

        if (name == NULL || !islower((unsigned char)name[0]) ||
            strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name) || strcmp(name, "has") == 0)
            return fault(from, "a column has no plain name (AS): ", name == NULL ? "" : name);
        for (int other = 0; other < i; other++)
            if (strcmp(sqlite3_column_name(from->prepared, other), name) == 0)
                return fault(from, "two columns have one name: ", name);
    }
    return 0;
}

/* #define NM_NAME_END(INTEGER, FLAG, REAL, TEXT): each column or parameter with what it is. */
typedef const char *name_of(sqlite3_stmt *prepared, int at);

static const char *parameter_name(sqlite3_stmt *prepared, int at)
{
    const char *name = sqlite3_bind_parameter_name(prepared, at + 1);

    return name == NULL || name[0] != ':' || !islower((unsigned char)name[1]) ? NULL : name + 1;
}

static int put_list(nm_buffer *out, const statement *from, const char *end, int count, name_of *name_at)
{
    static const char *const macros[] = {"INTEGER", "FLAG", "REAL", "TEXT"};
    filler f = {.out = out};
    size_t begin = out->len;

    put(out, "#define NM_");
    put_upper(out, from->name);
    put(out, end);
    put(out, "(INTEGER, FLAG, REAL, TEXT)");
    f.columns = out->len - begin;
    for (int i = 0; i < count; i++) {
        const char *name = name_at(from->prepared, i);
        char word[256];

        if (name == NULL)
            return fault(from, "a parameter has no name (:name)", "");
        snprintf(word, sizeof word, " %s(%s)", macros[type_of(name)], name);
        fill(&f, word);
    }
    put(out, "\n");
    return 0;
}

static bool has_texts(const statement *from)
{
    for (int i = 0; i < sqlite3_column_count(from->prepared); i++)
        if (type_of(sqlite3_column_name(from->prepared, i)) == NM_COLUMN_TEXT)
            return true;
    return false;
}

/* NM_QUESTION_VERB(name, NM_NAME_COLUMNS, NM_NAME_PARAMETERS), as far as they are there. */
static void put_macro(nm_buffer *out, const statement *from, const char *verb, const char *const *ends)
{
    put(out, "NM_QUESTION");
    put(out, verb);
    put(out, "(");
    put(out, from->name);
    for (; *ends != NULL; ends++) {
        put(out, ", NM_");
        if (strcmp(*ends, "QUESTION_NONE") != 0)
            put_upper(out, from->name);
        put(out, *ends);
    }
    put(out, ")\n");
}

/* What asks it, and what reads its rows. */
static int put_functions(nm_buffer *out, const statement *from)
{
    int column_count = sqlite3_column_count(from->prepared);
    int parameter_count = sqlite3_bind_parameter_count(from->prepared);
    const char *parameters = parameter_count == 0 ? "QUESTION_NONE" : "_PARAMETERS";
    int faults = check_columns(from, column_count);

    bool has_own = column_count > 0 && strstr(from->text, rows_as) == NULL;

    if (from->is_script) {
        put_macro(out, from, "_SCRIPT", (const char *const[]){NULL});
        return 0;
    }

    if (faults == 0 && has_own)
        faults = put_list(out, from, "_COLUMNS", column_count, sqlite3_column_name);
    if (faults == 0 && parameter_count > 0)
        faults = put_list(out, from, "_PARAMETERS", parameter_count, parameter_name);
    if (faults == 0 && has_own)
        put_macro(out, from, has_texts(from) ? "_OF_TEXTS" : "", (const char *const[]){"_COLUMNS", parameters, NULL});
    else if (faults == 0)
        put_macro(out, from, column_count > 0 ? "_ASK" : "_RUN", (const char *const[]){parameters, NULL});
    return faults;
}

static int make(const statement *from, nm_buffer *out)
{
    int faults = 0;

    put(out, "/* SPDX-License-Identifier: Apache-2.0. Made of ");
    put(out, from->name);
    put(out, ".sql by the target `sql`; store/question.h says how it is used. */\n/* clang-format off */\n#ifndef ");
    put_guard(out, from);
    put(out, "\n#define ");
    put_guard(out, from);
    put(out, "\n\n#include \"store/question.h\"\n\n");
    faults += put_functions(out, from);
    put(out, "\n#endif\n");
    return faults;
}

/* Compares, or writes where it is not the same, so that nothing is built again that has not changed. */
static int settle(const statement *from, const nm_buffer *made, bool is_check)
{
    char path[4096];
    int faults = 0;

    snprintf(path, sizeof path, "%s.h", from->path);
    char *there = read_text(path);
    if (there == NULL || strlen(there) != made->len || memcmp(there, made->data, made->len) != 0) {
        FILE *file = is_check ? NULL : fopen(path, "w");

        if (is_check)
            faults = fault(from, "its header is not made of it: run the target `sql`", "");
        else if (file == NULL || fwrite(made->data, 1, made->len, file) != made->len || fclose(file) != 0)
            faults = fault(from, "its header cannot be written", "");
    }
    free(there);
    return faults;
}

static int take(sqlite3 *db, const char *path, bool is_check)
{
    statement from = {.path = path};
    sqlite3_stmt *like = NULL;
    nm_buffer made = {0};
    int faults = take_path(&from);

    if (faults == 0 && (from.text = read_text(path)) == NULL)
        faults = fault(&from, "cannot be read", "");
    if (faults == 0)
        faults = take_comment(&from);
    if (faults == 0)
        faults = add_parts(&from);
    sqlite3_exec(db, "SAVEPOINT file", NULL, NULL, NULL);
    if (faults == 0)
        faults = run_before(&from, db);
    if (faults == 0)
        faults = prepare(&from, db);
    if (faults == 0)
        faults = find_like(&from, db, &like);
    if (faults == 0)
        faults = make(&from, &made);
    if (faults == 0)
        faults = settle(&from, &made, is_check);
    sqlite3_finalize(from.prepared);
    sqlite3_finalize(like);
    sqlite3_exec(db, "ROLLBACK TO file; RELEASE file", NULL, NULL, NULL);
    free(from.text);
    nm_buffer_free(&made);
    return faults;
}

/* Another like `main`. */
static nm_status attach(sqlite3 *db, const char *schema, nm_error *err)
{
    sqlite3_int64 bytes = 0;
    char sql[64];

    snprintf(sql, sizeof sql, "ATTACH ':memory:' AS %s", schema);
    nm_status status = nm_db_exec(db, sql, err);
    unsigned char *image = status == NM_OK ? sqlite3_serialize(db, "main", &bytes, 0) : NULL;
    if (status == NM_OK &&
        sqlite3_deserialize(db, schema, image, bytes, bytes, SQLITE_DESERIALIZE_FREEONCLOSE) != SQLITE_OK)
        return nm_db_fail(db, err);
    return status;
}

/* An empty database, with others attached: `base`, as where two are compared, and `source`, as where one is added. */
static nm_status open_empty(sqlite3 **db, nm_error *err)
{
    nm_status status = NM_OK;

    if (sqlite3_open(":memory:", db) != SQLITE_OK)
        return nm_db_fail(*db, err);
    status = nm_schema_apply(*db, NM_SCHEMA_TABLES, err);
    if (status == NM_OK)
        status = nm_schema_apply(*db, NM_SCHEMA_VIEWS, err);
    if (status == NM_OK)
        status = attach(*db, "base", err);
    return status == NM_OK ? attach(*db, "source", err) : status;
}

int main(int argc, char **argv)
{
    bool is_check = argc > 1 && strcmp(argv[1], "--check") == 0;
    nm_error err = {0};
    sqlite3 *db = NULL;
    int faults = 0;

    if (argc < 2 + is_check) {
        fprintf(stderr, "usage: sql_header [--check] src/FOLDER/NAME.sql...\n");
        return 2;
    }
    if (open_empty(&db, &err) != NM_OK) {
        fprintf(stderr, "sql_header: no empty database: %s\n", err.text);
        return 1;
    }
    for (int i = 1 + is_check; i < argc; i++)
        faults += take(db, argv[i], is_check);
    sqlite3_close(db);
    return faults == 0 ? 0 : 1;
}
