/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL of the fuzzer's is bounded in time and size, and gets at no other file: what it makes is to be odd, not large.
 */
#include "fuzz/script.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"

#define LINES_MAX      256
#define LINE_BYTES_MAX 4096
#define TEXT_BYTES_MAX (1 << 20)
#define STEPS_MAX      200000
#define PAGES_MAX      "2000"
#define FILE_BYTES_MAX ((size_t)1 << 20)
#define NAME_BYTES     16
#define NAME_FORMAT    "%15s"

/* ---- Lines ---- */

/* False: there is none. A longer one is cut. */
static bool next_line(nm_bytes *script, char line[LINE_BYTES_MAX])
{
    const uint8_t *end = script->len == 0 ? NULL : memchr(script->data, '\n', script->len);
    size_t len = end == NULL ? script->len : (size_t)(end - script->data);
    size_t kept = len < LINE_BYTES_MAX - 1 ? len : LINE_BYTES_MAX - 1;

    if (script->len == 0)
        return false;
    memcpy(line, script->data, kept);
    line[kept] = 0;
    len += end != NULL;
    *script = (nm_bytes){script->data + len, script->len - len};
    return true;
}

static bool begins_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static bool is_of_bytes(const char *line)
{
    return begins_with(line, "at ") || begins_with(line, "cut ");
}

static unsigned digit_of(char character)
{
    return isdigit((unsigned char)character) ? (unsigned)(character - '0')
                                             : (unsigned)(tolower((unsigned char)character) - 'a' + 10);
}

static void put_bytes(nm_buffer *file, uint64_t at, const char *digits)
{
    for (; isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]) && at < file->len; digits += 2)
        file->data[at++] = (uint8_t)(digit_of(digits[0]) << 4 | digit_of(digits[1]));
}

static fuzz_named_file *find_file(const char *name, fuzz_named_file *files, size_t file_count)
{
    for (size_t i = 0; i < file_count; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return &files[0];
}

static void change_bytes(const char *line, fuzz_named_file *files, size_t file_count)
{
    char name[NAME_BYTES] = "";
    unsigned long long at = 0;
    const char *rest = strchr(line, ' ') + 1;
    fuzz_named_file *file = &files[0];
    int read = 0;

    if (!isdigit((unsigned char)rest[0]) && sscanf(rest, NAME_FORMAT " %n", name, &read) == 1) {
        file = find_file(name, files, file_count);
        rest += read;
    }
    read = 0;
    if (sscanf(rest, "%llu %n", &at, &read) != 1)
        return;
    if (line[0] == 'a')
        put_bytes(&file->bytes, at, rest + read);
    else if (at < file->bytes.len)
        file->bytes.len = at;
}

static void append_file(nm_buffer *file, const nm_buffer *other)
{
    nm_buffer both = {0};

    if (file->len + other->len > FILE_BYTES_MAX)
        return;
    FUZZ_REQUIRE(nm_buffer_append(&both, file->data, file->len, NULL) == NM_OK);
    FUZZ_REQUIRE(nm_buffer_append(&both, other->data, other->len, NULL) == NM_OK);
    nm_buffer_free(file);
    *file = both;
}

static void change_file(const char *line, fuzz_named_file *files, size_t file_count)
{
    char name[NAME_BYTES] = "", other[NAME_BYTES] = "";

    if (sscanf(line, "twice " NAME_FORMAT, name) == 1) {
        fuzz_named_file *file = find_file(name, files, file_count);
        append_file(&file->bytes, &file->bytes);
    } else if (sscanf(line, "other " NAME_FORMAT " " NAME_FORMAT, name, other) == 2 && strcmp(name, other) != 0) {
        fuzz_named_file *file = find_file(name, files, file_count);
        file->bytes.len = 0;
        append_file(&file->bytes, &find_file(other, files, file_count)->bytes);
    } else if (sscanf(line, "gone " NAME_FORMAT, name) == 1) {
        find_file(name, files, file_count)->is_gone = true;
    }
}

void fuzz_script_files(nm_bytes script, fuzz_named_file *files, size_t file_count)
{
    char line[LINE_BYTES_MAX];

    for (int i = 0; i < LINES_MAX && next_line(&script, line); i++)
        if (is_of_bytes(line))
            change_bytes(line, files, file_count);
        else
            change_file(line, files, file_count);
}

/* ---- Changes ---- */

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static uint64_t odd_number(uint64_t *state, const nm_buffer *bytes, uint64_t at)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   255,
                                   256,
                                   65535,
                                   UINT64_C(1) << 31,
                                   UINT64_C(1) << 32,
                                   INT64_MAX,
                                   (uint64_t)INT64_MIN,
                                   UINT64_MAX,
                                   UINT64_MAX - 1,
                                   UINT64_C(1) << 62,
                                   4096};
    uint64_t here = 0;

    memcpy(&here, bytes->data + at, bytes->len - at < sizeof here ? bytes->len - at : sizeof here);
    switch (random_next(state) % 4) {
    case 0:
        return here + random_next(state) % 5 - 2;
    case 1:
        return here ^ UINT64_C(1) << random_next(state) % 64;
    case 2: /* what stands somewhere else */
        at = random_next(state) % bytes->len & ~UINT64_C(7);
        memcpy(&here, bytes->data + at, bytes->len - at < sizeof here ? bytes->len - at : sizeof here);
        return here;
    default:
        return odd[random_next(state) % (sizeof odd / sizeof *odd)];
    }
}

static size_t append_line(uint8_t *data, size_t len, size_t room, const char *line)
{
    size_t line_len = strlen(line);
    bool is_begun = len > 0 && data[len - 1] != '\n';

    if (room - len < line_len + is_begun)
        return 0;
    if (is_begun)
        data[len++] = '\n';
    memcpy(data + len, line, line_len);
    return len + line_len;
}

static void make_file_line(uint64_t *state, const fuzz_named_file *files, size_t file_count, char *line, size_t bytes)
{
    const fuzz_named_file *file = &files[random_next(state) % file_count];

    switch (random_next(state) % 4) {
    case 0:
        snprintf(line, bytes, "cut %s %llu\n", file->name,
                 (unsigned long long)(random_next(state) % (file->bytes.len + 1)));
        break;
    case 1:
        snprintf(line, bytes, "twice %s\n", file->name);
        break;
    case 2:
        snprintf(line, bytes, "other %s %s\n", file->name, files[random_next(state) % file_count].name);
        break;
    default:
        snprintf(line, bytes, "gone %s\n", file->name);
        break;
    }
}

static void make_byte_line(uint64_t *state, const fuzz_named_file *file, char *line, size_t bytes)
{
    size_t width = (size_t)1 << random_next(state) % 4;
    /* Of each file the beginning says most of the rest. */
    uint64_t at = random_next(state) % (random_next(state) % 2 == 0 && file->bytes.len > 512 ? 512 : file->bytes.len);
    uint64_t value;
    int written;

    at &= ~(uint64_t)(width - 1);
    value = odd_number(state, &file->bytes, at);
    written = snprintf(line, bytes, "at %s %llu ", file->name, (unsigned long long)at);
    for (size_t i = 0; i < width; i++, value >>= 8)
        written += snprintf(line + written, bytes - (size_t)written, "%02x", (unsigned)(value & 255));
    snprintf(line + written, bytes - (size_t)written, "\n");
}

size_t fuzz_script_mutate(uint8_t *data, size_t len, size_t room, unsigned seed, const fuzz_named_file *files,
                          size_t file_count)
{
    uint64_t state = seed;
    const fuzz_named_file *file = &files[random_next(&state) % file_count];
    char line[96];

    if (random_next(&state) % 3 == 0 || file->bytes.len < 8)
        return 0;
    if (file_count > 1 && random_next(&state) % 16 == 0)
        make_file_line(&state, files, file_count, line, sizeof line);
    else
        make_byte_line(&state, file, line, sizeof line);
    return append_line(data, len, room, line);
}

/* ---- SQL ---- */

static int is_spent(void *steps)
{
    return (*(int *)steps += 1000) > STEPS_MAX;
}

static int authorize(void *context, int action, const char *first, const char *second, const char *schema,
                     const char *trigger)
{
    (void)context, (void)schema, (void)trigger, (void)second;
    if (action == SQLITE_PRAGMA && strcasecmp(first, "max_page_count") == 0)
        return SQLITE_DENY;
    return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

static sqlite3 *open_copy(nm_buffer *file, int *steps)
{
    sqlite3 *db = NULL;
    uint8_t *copy = file->len == 0 ? NULL : sqlite3_malloc64(file->len);

    FUZZ_REQUIRE(sqlite3_open(":memory:", &db) == SQLITE_OK);
    if (copy != NULL) {
        memcpy(copy, file->data, file->len);
        FUZZ_REQUIRE(sqlite3_deserialize(db, "main", copy, (sqlite3_int64)file->len, (sqlite3_int64)file->len,
                                         SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) == SQLITE_OK);
    }
    sqlite3_exec(db, "PRAGMA page_size = 1024; PRAGMA max_page_count = " PAGES_MAX, NULL, NULL, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    sqlite3_progress_handler(db, 1000, is_spent, steps);
    sqlite3_set_authorizer(db, authorize, NULL);
    return db;
}

void fuzz_script_database(nm_bytes script, nm_buffer *file)
{
    fuzz_named_file named = {.name = "db", .bytes = *file};
    char line[LINE_BYTES_MAX];
    nm_bytes rest = script;
    int steps = 0;
    sqlite3 *db = open_copy(file, &steps);
    sqlite3_int64 len = 0;
    uint8_t *made = NULL;

    for (int i = 0; i < LINES_MAX && next_line(&rest, line); i++)
        if (!is_of_bytes(line))
            sqlite3_exec(db, line, NULL, NULL, NULL);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    made = sqlite3_serialize(db, "main", &len, 0);
    named.bytes.len = 0;
    if (made != NULL)
        FUZZ_REQUIRE(nm_buffer_append(&named.bytes, made, (size_t)len, NULL) == NM_OK);
    sqlite3_free(made);
    sqlite3_close(db);
    fuzz_script_files(script, &named, 1);
    *file = named.bytes;
}
