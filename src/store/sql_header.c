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
    const char *path; /* of the file */
    char folder[64];  /* below src/, as "report" or "tool/diff" */
    char name[64];    /* of the file without .sql */
    char *text;       /* all of the file; owned */
    const char *says; /* the first comment, without "NAME.sql: " */
    size_t says_len;
    sqlite3_stmt *prepared; /* owned */
} statement;

#define LINE_COLUMNS 118

static const char *const member_types[] = {"int64_t ", "bool ", "double ", "const char *"};

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

static nm_field_type type_of(const char *name)
{
    static const char *const reals[] = {"_ratio", "_rate", "_per_step", "_per_hour", NULL};
    static const char *const integers[] = {"_bytes", "_ns", "_count", "_seq", "_id", "_number", "_code", NULL};
    static const char *const words[] = {"rank",   "pid",    "tid",     "device", "ordinal", "seq", "ns",
                                        "number", "stream", "address", "bytes",  "count",   NULL};

    if (strncmp(name, "is_", 3) == 0 || strncmp(name, "has_", 4) == 0)
        return NM_FIELD_FLAG;
    for (size_t i = 0; reals[i] != NULL; i++)
        if (ends_with(name, reals[i]))
            return NM_FIELD_REAL;
    for (size_t i = 0; integers[i] != NULL; i++)
        if (ends_with(name, integers[i]))
            return NM_FIELD_INTEGER;
    return is_one_of(name, words) ? NM_FIELD_INTEGER : NM_FIELD_TEXT;
}

/* ---- What is there ---- */

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

/* What it says of itself: "-- NAME.sql: ..." in its first line, and on in those that begin with "--   ". */
static int take_comment(statement *to)
{
    size_t name_len = strlen(to->name);

    if (strncmp(to->text, "-- ", 3) != 0 || strncmp(to->text + 3, to->name, name_len) != 0 ||
        strncmp(to->text + 3 + name_len, ".sql: ", 6) != 0)
        return fault(to, "does not begin with '-- NAME.sql: what it asks'", "");
    to->says = to->text + 3;
    to->says_len = strcspn(to->says, "\n");
    return 0;
}

/* Lines "-- After: FILE": statements of a file beside it that make what it reads, temporary tables say. */
static int run_before(statement *from, sqlite3 *db)
{
    static const char mark[] = "-- After: ";
    int faults = 0;

    for (const char *at = strstr(from->text, mark); at != NULL && faults == 0; at = strstr(at + 1, mark)) {
        char path[4096];
        const char *name = at + sizeof mark - 1, *slash = strrchr(from->path, '/');
        nm_error err = {0};

        snprintf(path, sizeof path, "%.*s/%.*s", (int)(slash - from->path), from->path, (int)strcspn(name, "\n"), name);
        char *text = read_text(path);
        if (text == NULL || nm_db_exec(db, text, &err) != NM_OK)
            faults = fault(from, "what it comes after cannot be run: ", text == NULL ? path : err.text);
        free(text);
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
    while (isspace((unsigned char)*rest))
        rest++;
    return *rest == 0 ? 0 : fault(to, "has more than one statement", "");
}

/* ---- What is made of it ---- */

static void put(nm_buffer *out, const char *text)
{
    nm_buffer_append(out, text, strlen(text), NULL);
}

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

/* Words of a macro or of a text, in lines of at most LINE_COLUMNS. */
typedef struct filler {
    nm_buffer *out;
    const char *begin, *end; /* of a line */
    size_t columns;          /* of the line so far; 0: none has begun */
} filler;

static void fill(filler *f, const char *word, size_t len)
{
    if (f->columns != 0 && f->columns + len + strlen(f->end) + 2 > LINE_COLUMNS) {
        put(f->out, f->end);
        put(f->out, " \\\n");
        f->columns = 0;
    }
    if (f->columns == 0) {
        put(f->out, f->begin);
        f->columns = strlen(f->begin);
    }
    nm_buffer_append(f->out, word, len, NULL);
    f->columns += len;
}

/* The next word of a statement with the space behind it, in `word`: comments and what is blank become one space. Text between
 * quotes is of one word. */
static const char *next_word(const char *at, nm_buffer *word)
{
    char quote = 0;

    word->len = 0;
    for (; *at != 0; at++) {
        if (quote == 0 && strncmp(at, "--", 2) == 0)
            at += strcspn(at, "\n");
        if (quote == 0 && (*at == 0 || isspace((unsigned char)*at)))
            break;
        if (quote == 0 ? *at == '\'' || *at == '"' : *at == quote)
            quote = quote == 0 ? *at : 0;
        if (*at == '"' || *at == '\\')
            put(word, "\\");
        nm_buffer_append(word, at, 1, NULL);
    }
    while (isspace((unsigned char)*at) || strncmp(at, "--", 2) == 0)
        at += *at == '-' ? strcspn(at, "\n") : 1;
    if (*at != 0 && word->len > 0)
        put(word, " ");
    return at;
}

static void put_text(nm_buffer *out, const statement *from)
{
    filler f = {.out = out, .begin = "    \"", .end = "\""};
    nm_buffer word = {0};

    put(out, " \\\n");
    for (const char *at = from->text; *at != 0;) {
        at = next_word(at, &word);
        if (word.len > 0)
            fill(&f, (const char *)word.data, word.len);
    }
    put(out, "\"\n");
    nm_buffer_free(&word);
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

static int put_row(nm_buffer *out, const statement *from)
{
    static const char *const macros[] = {"INTEGER", "FLAG", "REAL", "TEXT"};
    int count = sqlite3_column_count(from->prepared);
    filler f = {.out = out, .begin = "   ", .end = ""};

    if (count == 0)
        return 0;
    put(out, "#define NM_");
    put_upper(out, from->name);
    put(out, "_COLUMNS(INTEGER, FLAG, REAL, TEXT) \\\n");
    for (int i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(from->prepared, i);
        char word[256];

        snprintf(word, sizeof word, " %s(%s)", macros[type_of(name)], name);
        fill(&f, word, strlen(word));
    }
    put(out, "\nNM_QUESTION_ROW(");
    put(out, from->name);
    put(out, ", NM_");
    put_upper(out, from->name);
    put(out, "_COLUMNS)\n");
    return check_columns(from, count);
}

/* The parameters, each with a comma before it: of a function, or of a call. */
static int put_parameters(nm_buffer *out, const statement *from, bool has_types)
{
    int count = sqlite3_bind_parameter_count(from->prepared);

    for (int i = 1; i <= count; i++) {
        const char *name = sqlite3_bind_parameter_name(from->prepared, i);

        if (name == NULL || name[0] != ':' || !islower((unsigned char)name[1]))
            return fault(from, "a parameter has no name (:name)", "");
        put(out, ", ");
        if (has_types)
            put(out, type_of(name + 1) == NM_FIELD_FLAG ? "bool " : member_types[type_of(name + 1)]);
        put(out, name + 1);
    }
    return 0;
}

/* NM_QUESTION_BIND(name, (parameters of the function), calls that bind them) */
static int put_bind(nm_buffer *out, const statement *from)
{
    static const char *const binds[] = {"integer", "integer", "real", "text"};
    int count = sqlite3_bind_parameter_count(from->prepared);

    put(out, "static inline void nm_");
    put(out, from->name);
    put(out, "_bind(sqlite3_stmt *rows");
    if (put_parameters(out, from, true) != 0)
        return 1;
    put(out, ")\n{\n    nm_question_again(rows);\n");
    for (int i = 1; i <= count; i++) {
        const char *name = sqlite3_bind_parameter_name(from->prepared, i);
        char line[256];

        snprintf(line, sizeof line, "    nm_question_bind_%s(rows, \"%s\", %s);\n", binds[type_of(name + 1)], name,
                 name + 1);
        put(out, line);
    }
    put(out, "}\n");
    return 0;
}

/* What asks it: a macro of question.h where it has no parameters. */
static int put_ask(nm_buffer *out, const statement *from)
{
    bool has_rows = sqlite3_column_count(from->prepared) > 0;
    const char *verb = has_rows ? "ask" : "run", *rows = has_rows ? "*rows" : "rows";
    char line[512];

    if (sqlite3_bind_parameter_count(from->prepared) == 0) {
        snprintf(line, sizeof line, "NM_QUESTION_%s(%s, NM_", has_rows ? "ASK" : "RUN", from->name);
        put(out, line);
        put_upper(out, from->name);
        put(out, "_SQL)\n");
        return 0;
    }
    if (put_bind(out, from) != 0)
        return 1;
    snprintf(line, sizeof line, "static inline nm_status nm_%s_%s(sqlite3 *db", from->name, verb);
    put(out, line);
    put_parameters(out, from, true);
    put(out, has_rows ? ", sqlite3_stmt **rows, nm_error *err)\n{\n"
                      : ", nm_error *err)\n{\n    sqlite3_stmt *rows = NULL;\n");
    put(out, "    nm_status status = nm_question_prepare(db, NM_");
    put_upper(out, from->name);
    snprintf(line, sizeof line, "_SQL, %s, err);\n\n    if (status == NM_OK)\n        nm_%s_bind(%s",
             has_rows ? "rows" : "&rows", from->name, rows);
    put(out, line);
    put_parameters(out, from, false);
    put(out, has_rows ? ");\n    return status;\n}\n" : ");\n    return nm_question_run(rows, status, err);\n}\n");
    return 0;
}

static int make(const statement *from, nm_buffer *out)
{
    int faults = 0;

    put(out, "/* SPDX-License-Identifier: Apache-2.0\n *\n * ");
    nm_buffer_append(out, from->says, from->says_len, NULL);
    put(out,
        "\n * Made of that file by the target `sql`; a test compares them. store/question.h says how it is used.\n */\n"
        "/* clang-format off */\n#ifndef ");
    put_guard(out, from);
    put(out, "\n#define ");
    put_guard(out, from);
    put(out, "\n\n#include \"store/question.h\"\n\n#define NM_");
    put_upper(out, from->name);
    put(out, "_SQL");
    put_text(out, from);
    faults += put_row(out, from);
    faults += faults == 0 ? put_ask(out, from) : 0;
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
    nm_buffer made = {0};
    int faults = take_path(&from);

    if (faults == 0 && (from.text = read_text(path)) == NULL)
        faults = fault(&from, "cannot be read", "");
    if (faults == 0)
        faults = take_comment(&from);
    sqlite3_exec(db, "SAVEPOINT file", NULL, NULL, NULL);
    if (faults == 0)
        faults = run_before(&from, db);
    if (faults == 0)
        faults = prepare(&from, db);
    if (faults == 0)
        faults = make(&from, &made);
    if (faults == 0)
        faults = settle(&from, &made, is_check);
    sqlite3_finalize(from.prepared);
    sqlite3_exec(db, "ROLLBACK TO file; RELEASE file", NULL, NULL, NULL);
    free(from.text);
    nm_buffer_free(&made);
    return faults;
}

/* An empty database, with another attached as `base`, as where two are compared. */
static nm_status open_empty(sqlite3 **db, nm_error *err)
{
    nm_status status = NM_OK;
    sqlite3_int64 bytes = 0;
    unsigned char *image;

    if (sqlite3_open(":memory:", db) != SQLITE_OK)
        return nm_db_fail(*db, err);
    status = nm_schema_apply(*db, NM_SCHEMA_TABLES, err);
    if (status == NM_OK)
        status = nm_schema_apply(*db, NM_SCHEMA_VIEWS, err);
    if (status == NM_OK)
        status = nm_db_exec(*db, "ATTACH ':memory:' AS base", err);
    image = status == NM_OK ? sqlite3_serialize(*db, "main", &bytes, 0) : NULL;
    if (status == NM_OK &&
        sqlite3_deserialize(*db, "base", image, bytes, bytes, SQLITE_DESERIALIZE_FREEONCLOSE) != SQLITE_OK)
        return nm_db_fail(*db, err);
    return status;
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
