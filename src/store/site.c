/* SPDX-License-Identifier: Apache-2.0 */
#include "store/site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/autograd.h"
#include "sites/inlined.h"
#include "store/database.h"

typedef enum rule_target {
    TARGET_FUNCTION,
    TARGET_FILE,
    TARGET_MODULE,
    TARGET_NAME,
    TARGET_PYTHON,
    TARGET_COUNT
} rule_target;

static const char *const target_names[TARGET_COUNT] = {"function", "file", "module", "name", "python"};

typedef struct nm_plumbing_rule {
    rule_target target;
    bool is_native;        /* frames of Python are not looked at */
    size_t pattern_offset; /* into nm_sites.patterns */
} nm_plumbing_rule;

/* ---- Rules ---- */

static bool find_target(const char *name, size_t length, rule_target *target)
{
    for (int index = 0; index < TARGET_COUNT; index++) {
        if (strlen(target_names[index]) == length && memcmp(target_names[index], name, length) == 0) {
            *target = (rule_target)index;
            return true;
        }
    }
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* One line without its newline. */
static nm_status add_rule_line(sqlite3_stmt *insert, const char *line, size_t length, uint64_t offset, nm_error *err)
{
    rule_target target;
    size_t word = 0;

    while (length > 0 && is_blank(line[length - 1]))
        length--;
    if (length == 0 || line[0] == '#')
        return NM_OK;
    while (word < length && !is_blank(line[word]))
        word++;
    if (!find_target(line, word, &target))
        return nm_fail(err, NM_ERR_FORMAT, offset,
                       "a site rule is: function, python, file, name or module, and a pattern");
    size_t pattern = word;
    while (pattern < length && is_blank(line[pattern]))
        pattern++;
    if (pattern == length)
        return nm_fail(err, NM_ERR_FORMAT, offset, "this site rule has no pattern");

    sqlite3_bind_text(insert, 1, target_names[target], -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, line + pattern, (int)(length - pattern), SQLITE_STATIC);
    nm_status status = sqlite3_step(insert) == SQLITE_DONE ? NM_OK : nm_db_fail(sqlite3_db_handle(insert), err);
    sqlite3_reset(insert);
    return status;
}

nm_status nm_site_rules_add(sqlite3 *db, nm_bytes text, nm_error *err)
{
    static const char sql[] = "INSERT INTO plumbing (target, pattern, origin) VALUES (?, ?, 'site rules')";
    const char *data = (const char *)text.data;
    sqlite3_stmt *insert = NULL;
    nm_status status = NM_OK;

    if (text.len > NM_SITE_RULES_BYTES_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_SITE_RULES_BYTES_MAX, "site rules are larger than %u bytes",
                       NM_SITE_RULES_BYTES_MAX);
    status = nm_db_prepare(db, sql, &insert, err);
    for (size_t at = 0; status == NM_OK && at < text.len;) {
        const char *end = memchr(data + at, '\n', text.len - at);
        size_t length = end == NULL ? text.len - at : (size_t)(end - (data + at));

        status = add_rule_line(insert, data + at, length, at, err);
        at += length + 1;
    }
    sqlite3_finalize(insert);
    return status;
}

nm_status nm_plumbing_is_same(sqlite3 *db, const char *schema, const char *other, bool *is_same, nm_error *err)
{
    static const char sql[] = "SELECT count(*) FROM (SELECT target, pattern FROM \"%w\".plumbing EXCEPT SELECT target,"
                              " pattern FROM \"%w\".plumbing)";
    const char *schemas[2] = {schema, other};
    nm_status status = NM_OK;

    *is_same = true;
    for (int i = 0; i < 2 && status == NM_OK; i++) {
        char *text = sqlite3_mprintf(sql, schemas[i], schemas[1 - i]);
        sqlite3_stmt *row = NULL;

        status = text == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                              : nm_db_prepare(db, text, &row, err);
        if (status == NM_OK && sqlite3_step(row) != SQLITE_ROW)
            status = nm_db_fail(db, err);
        *is_same = *is_same && status == NM_OK && sqlite3_column_int64(row, 0) == 0;
        sqlite3_finalize(row);
        sqlite3_free(text);
    }
    return status;
}

static nm_status read_rule(nm_sites *sites, sqlite3_stmt *row, nm_error *err)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
    const char *pattern = (const char *)sqlite3_column_text(row, 1);
    const char *origin = (const char *)sqlite3_column_text(row, 2);
    nm_plumbing_rule rule = {.pattern_offset = sites->patterns.len};
    nm_status status;

    if (name == NULL || pattern == NULL || !find_target(name, strlen(name), &rule.target))
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "table plumbing holds a row that is no pattern");
    rule.is_native = rule.target == TARGET_FUNCTION && origin != NULL && strcmp(origin, "built in") == 0;
    status = nm_buffer_append(&sites->patterns, pattern, strlen(pattern) + 1, err);
    if (status == NM_OK)
        status = nm_array_grow(&sites->rules, &sites->rule_capacity, sites->rule_count + 1, sizeof rule, err);
    if (status == NM_OK)
        sites->rules[sites->rule_count++] = rule;
    return status;
}

static nm_status read_rules(sqlite3 *db, nm_sites *sites, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status =
        nm_db_prepare(db, "SELECT target, pattern, origin FROM plumbing ORDER BY plumbing_id", &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        status = read_rule(sites, rows, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

/* ---- Frames ---- */

/* Does a word of a function's name end at `at`, so that what follows belongs to it: "operator new", "operator bool"? */
static bool ends_operator(const char *text, const char *at)
{
    return at - text >= 8 && memcmp(at - 8, "operator", 8) == 0;
}

/* The name in "at::Tensor own::f<int>(at::Tensor)": demanglers put the return type of a template before it. */
static const char *without_return_type(const char *text)
{
    const char *name = text;
    int depth = 0;

    for (const char *at = text; *at != 0; at++) {
        if (strncmp(at, "(anonymous namespace)", 21) == 0)
            at += 20;
        else if (*at == '(' && depth == 0)
            break;
        else if (*at == '<')
            depth++;
        else if (*at == '>' && depth > 0)
            depth--;
        else if (*at == ' ' && depth == 0 && !ends_operator(text, at))
            name = at + 1;
    }
    return name;
}

static const char *without_folders(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL || slash[1] == 0 ? path : slash + 1;
}

const char *nm_site_function(const nm_definitions *definitions, const nm_definition *frame)
{
    const char *text = (const char *)nm_definitions_text(definitions, frame->frame.function).data;

    return text == NULL ? NULL : without_return_type(text);
}

static bool is_plumbing_frame(const nm_sites *sites, const nm_definitions *definitions, const nm_definition *frame,
                              bool is_python)
{
    const uint64_t texts[TARGET_COUNT] = {frame->frame.function, frame->frame.file, frame->frame.module,
                                          frame->frame.file, frame->frame.function};

    if (frame->frame.function == 0 && frame->frame.file == 0 && frame->frame.module == 0)
        return true;
    for (size_t index = 0; index < sites->rule_count; index++) {
        const nm_plumbing_rule *rule = &sites->rules[index];
        const char *text = (const char *)nm_definitions_text(definitions, texts[rule->target]).data;
        const char *pattern = (const char *)sites->patterns.data + rule->pattern_offset;

        if (is_python ? rule->is_native : rule->target == TARGET_PYTHON)
            continue;
        if (rule->target == TARGET_FUNCTION)
            text = nm_site_function(definitions, frame);
        if (text != NULL && rule->target == TARGET_NAME)
            text = without_folders(text);
        if (text != NULL && sqlite3_strglob(pattern, text) == 0)
            return true;
    }
    return false;
}

/* Names in angle brackets that compilers and debug information use for what is in no file. */
static bool is_native_bracket(const char *file)
{
    static const char *const names[] = {"<built",   "<artificial>", "<command-line>",  "<command line>",
                                        "<unknown", "<invalid",     "<scratch space>", "<inline asm>"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* A Python file, or what has none: <string>, <stdin>, <frozen os>, <ipython-input-3-f00>, a cell of a notebook. */
static bool is_python_file(const char *file)
{
    size_t length = strlen(file);

    if (length > 3 && strcmp(file + length - 3, ".py") == 0)
        return true;
    return (file[0] == '<' && strchr(file, '>') != NULL && !is_native_bracket(file)) || strstr(file, ".ipynb") != NULL;
}

/* The recorder gives Python frames the interpreter's name for a module: "python3.11". A snapshot gives nothing but files. */
bool nm_site_is_python(const nm_definitions *definitions, const nm_definition *frame)
{
    nm_bytes module = nm_definitions_text(definitions, frame->frame.module);
    const char *file = (const char *)nm_definitions_text(definitions, frame->frame.file).data;

    if (module.len > 6 && memcmp(module.data, "python", 6) == 0 && module.data[6] >= '0' && module.data[6] <= '9')
        return true;
    return module.len == 0 && file != NULL && is_python_file(file);
}

/* What makes two frames one site: function, file and line; without a file, the place in the module. */
static nm_key place_key(const nm_definition *frame)
{
    if (frame->frame.file != 0)
        return (nm_key){frame->frame.function << 32 | frame->frame.file, frame->frame.line};
    return (nm_key){frame->frame.function << 32 | frame->frame.module, frame->frame.offset};
}

static nm_status judge_frames(nm_sites *sites, const nm_definitions *definitions, nm_error *err)
{
    nm_map lines = {0};
    nm_map offsets = {0};
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < sites->frame_count; index++) {
        const nm_definition *frame = &definitions->frames.items[index];
        nm_map *places = frame->frame.file != 0 ? &lines : &offsets;
        const uint64_t *first = nm_map_get(places, place_key(frame));

        const char *function = nm_site_function(definitions, frame);
        size_t length;

        sites->is_python[index] = nm_site_is_python(definitions, frame);
        sites->is_plumbing[index] = is_plumbing_frame(sites, definitions, frame, sites->is_python[index] != 0);
        sites->autograd[index] = function == NULL ? NM_AUTOGRAD_NONE : nm_autograd_of(function, &length);
        sites->same_frame[index] = first == NULL ? index : (size_t)*first;
        if (first == NULL)
            status = nm_map_put(places, place_key(frame), index, err);
    }
    nm_map_free(&lines);
    nm_map_free(&offsets);
    return status;
}

/* ---- Stacks ---- */

/* The index of a stack's caller, or SIZE_MAX. */
static size_t parent_of(const nm_definitions *definitions, size_t stack)
{
    uint64_t parent_id = definitions->stacks.items[stack].parent_id;
    const uint64_t *parent = nm_map_get(&definitions->stacks.by_id, (nm_key){0, parent_id});

    return parent == NULL ? SIZE_MAX : (size_t)*parent;
}

static void put_frame(uint32_t *at, uint32_t frame, bool is_one)
{
    if (is_one)
        *at = frame;
}

/* What a stack consists of: its callers (already in *out), and its own frame. */
static void add_frame(const nm_sites *sites, const nm_definitions *definitions, size_t stack, nm_stack_frames *out)
{
    uint64_t frame_id = definitions->stacks.items[stack].frame_id;
    const uint64_t *index = nm_map_get(&definitions->frames.by_id, (nm_key){0, frame_id});

    if (index == NULL)
        return;
    uint32_t frame = (uint32_t)*index + 1;
    bool is_python = sites->is_python[*index] != 0;
    bool is_site = !sites->is_plumbing[*index];
    put_frame(&out->line, frame, is_python && is_site);
    put_frame(&out->python, frame, is_python);
    put_frame(&out->native, frame, !is_python && is_site);
    put_frame(&out->located, frame, !is_python && is_site && definitions->frames.items[*index].frame.module != 0);
    put_frame(&out->node, frame, sites->autograd[*index] == NM_AUTOGRAD_NODE);
    out->has_engine = out->has_engine || sites->autograd[*index] == NM_AUTOGRAD_ENGINE;
}

/* A stack is numbered after its caller, but for the callers that it was inlined into (inlined.h), of which there are few
 * in a row: one pass does. In a damaged input a caller may be missed. */
static void find_frames(nm_sites *sites, const nm_definitions *definitions)
{
    for (size_t index = 0; index < definitions->stacks.count; index++) {
        size_t path[NM_INLINED_DEPTH_MAX + 1], length = 0, at = index;
        nm_stack_frames frames = {0};

        for (; at != SIZE_MAX && (at >= index) && length <= NM_INLINED_DEPTH_MAX; at = parent_of(definitions, at))
            path[length++] = at;
        if (at != SIZE_MAX && at < index)
            frames = sites->stacks[at];
        while (length > 0)
            add_frame(sites, definitions, path[--length], &frames);
        sites->stacks[index] = frames;
    }
}

nm_status nm_sites_open(sqlite3 *db, const nm_definitions *definitions, nm_sites *out, nm_error *err)
{
    *out = (nm_sites){.frame_count = definitions->frames.count};
    out->is_plumbing = calloc(out->frame_count + 1, sizeof *out->is_plumbing);
    out->is_python = calloc(out->frame_count + 1, sizeof *out->is_python);
    out->autograd = calloc(out->frame_count + 1, sizeof *out->autograd);
    out->stacks = calloc(definitions->stacks.count + 1, sizeof *out->stacks);
    out->same_frame = calloc(out->frame_count + 1, sizeof *out->same_frame);

    bool has_memory = out->is_plumbing != NULL && out->is_python != NULL && out->autograd != NULL &&
                      out->stacks != NULL && out->same_frame != NULL;
    nm_status status =
        has_memory ? read_rules(db, out, err) : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = judge_frames(out, definitions, err);
    if (status == NM_OK)
        find_frames(out, definitions);
    return status;
}

void nm_sites_close(nm_sites *sites)
{
    free(sites->rules);
    nm_buffer_free(&sites->patterns);
    free(sites->is_plumbing);
    free(sites->is_python);
    free(sites->autograd);
    free(sites->stacks);
    free(sites->same_frame);
    *sites = (nm_sites){0};
}

/* ---- Sites of stacks ---- */

bool nm_sites_is_candidate(const nm_sites *sites, const nm_definitions *definitions, size_t stack)
{
    const nm_stack_node *node = &definitions->stacks.items[stack];
    const uint64_t *frame = nm_map_get(&definitions->frames.by_id, (nm_key){0, node->frame_id});

    return frame != NULL && !sites->is_plumbing[*frame] && (sites->is_python[*frame] || sites->stacks[stack].line == 0);
}

/* The first that there is: a line of Python; a native frame, of which a name alone does not go before Python; any frame. */
static uint32_t site_of(const nm_sites *sites, const nm_definitions *definitions, size_t stack)
{
    const nm_stack_frames *frames = &sites->stacks[stack];
    uint64_t frame_id = definitions->stacks.items[stack].frame_id;
    const uint64_t *own = nm_map_get(&definitions->frames.by_id, (nm_key){0, frame_id});
    uint32_t native = frames->python != 0 ? frames->located : frames->native;

    if (frames->line != 0 || native != 0)
        return frames->line != 0 ? frames->line : native;
    return frames->python != 0 ? frames->python : own == NULL ? 0 : (uint32_t)*own + 1;
}

void nm_sites_resolve(const nm_sites *sites, nm_definitions *definitions)
{
    for (size_t index = 0; index < definitions->stacks.count; index++) {
        uint32_t site = site_of(sites, definitions, index);

        definitions->stacks.items[index].site = site == 0 ? 0 : sites->same_frame[site - 1] + 1;
    }
}

/* ---- Labels ---- */

static nm_status append_text(nm_buffer *out, const char *text, nm_error *err)
{
    return nm_buffer_append(out, text, strlen(text), err);
}

nm_status nm_site_label(const nm_definitions *definitions, const nm_definition *frame, nm_buffer *out, nm_error *err)
{
    const char *function = (const char *)nm_definitions_text(definitions, frame->frame.function).data;
    const char *file = (const char *)nm_definitions_text(definitions, frame->frame.file).data;
    const char *module = (const char *)nm_definitions_text(definitions, frame->frame.module).data;
    char place[32] = "";
    nm_status status = NM_OK;

    out->len = 0;
    if (file != NULL && frame->frame.line != 0)
        snprintf(place, sizeof place, ":%" PRIu64, frame->frame.line);
    else if (file == NULL && module != NULL)
        snprintf(place, sizeof place, "+0x%" PRIx64, frame->frame.offset);
    if (file != NULL || module != NULL)
        status = append_text(out, without_folders(file != NULL ? file : module), err);
    if (status == NM_OK)
        status = append_text(out, place, err);
    if (status == NM_OK && function != NULL && out->len > 0)
        status = append_text(out, " ", err);
    if (status == NM_OK && function != NULL)
        status = append_text(out, function, err);
    if (status == NM_OK && out->len == 0)
        status = append_text(out, "(unknown)", err);
    return status;
}
