/* SPDX-License-Identifier: Apache-2.0
 *
 * A list that is searched from its begin: there are a few dozen patterns, and each frame of a load is held against them
 * once. GLOB is SQLite's, so that a pattern means here what it means in a query; no database is opened for it.
 */
#include "sites/patterns.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[NM_PATTERN_TARGET_COUNT] = {"function", "file",     "module",  "name",
                                                           "python",   "compiled", "library", "own"};

const char *nm_pattern_word(nm_pattern_target target)
{
    return words[target];
}

static bool find_target(nm_bytes word, nm_pattern_target *target)
{
    for (int index = 0; index < NM_PATTERN_TARGET_COUNT; index++) {
        if (strlen(words[index]) == word.len && memcmp(words[index], word.data, word.len) == 0) {
            *target = (nm_pattern_target)index;
            return true;
        }
    }
    return false;
}

static bool is_plain(uint8_t c)
{
    return c < 0x80 && strchr("*?[", c) == NULL; /* SQLite takes broken UTF-8 of one kind for that of another */
}

/* The longest run of letters that mean themselves, before any bracket: what follows one may be in it. */
static nm_bytes find_plain(nm_bytes text)
{
    nm_bytes plain = {text.data, 0};

    for (size_t at = 0, end = 0; at < text.len; at = end + 1) {
        for (end = at; end < text.len && is_plain(text.data[end]);)
            end++;
        if (end - at > plain.len)
            plain = (nm_bytes){text.data + at, end - at};
        if (end < text.len && (text.data[end] == '[' || text.data[end] == 0)) /* GLOB ends at a zero */
            break;
    }
    return plain;
}

static nm_status keep_text(nm_patterns *patterns, nm_bytes text, size_t *offset, nm_error *err)
{
    nm_status status = NM_OK;

    *offset = patterns->texts.len;
    status = nm_buffer_append(&patterns->texts, text.data, text.len, err);
    return status == NM_OK ? nm_buffer_append(&patterns->texts, "", 1, err) : status;
}

nm_status nm_patterns_add(nm_patterns *patterns, nm_bytes target, nm_bytes text, bool is_built_in, nm_error *err)
{
    nm_pattern pattern = {.size = text.len};
    nm_status status = find_target(target, &pattern.target) ? NM_OK : NM_END;

    pattern.is_native = pattern.target == NM_PATTERN_FUNCTION && is_built_in;
    if (status == NM_OK)
        status = keep_text(patterns, text, &pattern.offset, err);
    if (status == NM_OK)
        status = keep_text(patterns, find_plain(text), &pattern.plain_offset, err);
    if (status == NM_OK)
        status = nm_array_grow(&patterns->items, &patterns->capacity, patterns->count + 1, sizeof pattern, err);
    if (status != NM_OK)
        return status;
    patterns->items[patterns->count++] = pattern;
    size_t *last = &patterns->last[pattern.target];
    *(*last == 0 ? &patterns->first[pattern.target] : &patterns->items[*last - 1].next) = patterns->count;
    *last = patterns->count;
    return NM_OK;
}

nm_bytes nm_pattern_text(const nm_patterns *patterns, const nm_pattern *pattern)
{
    return (nm_bytes){patterns->texts.data + pattern->offset, pattern->size};
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* One line without its newline. */
static nm_status parse_line(nm_patterns *patterns, nm_bytes line, uint64_t offset, nm_error *err)
{
    size_t word = 0;

    while (line.len > 0 && is_blank(line.data[line.len - 1]))
        line.len--;
    if (line.len == 0 || line.data[0] == '#')
        return NM_OK;
    while (word < line.len && !is_blank(line.data[word]))
        word++;
    size_t begin = word;
    while (begin < line.len && is_blank(line.data[begin]))
        begin++;

    nm_pattern_target target;
    if (!find_target((nm_bytes){line.data, word}, &target))
        return nm_fail(err, NM_ERR_FORMAT, offset,
                       "a site rule is: function, python, file, name, module, library, own or compiled, and a pattern");
    if (begin == line.len)
        return nm_fail(err, NM_ERR_FORMAT, offset, "this site rule has no pattern");
    return nm_patterns_add(patterns, (nm_bytes){line.data, word}, (nm_bytes){line.data + begin, line.len - begin},
                           false, err);
}

nm_status nm_patterns_parse(nm_patterns *patterns, nm_bytes text, nm_error *err)
{
    nm_status status = NM_OK;

    if (text.len > NM_SITE_RULES_BYTES_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_SITE_RULES_BYTES_MAX, "site rules are larger than %u bytes",
                       NM_SITE_RULES_BYTES_MAX);
    for (size_t at = 0; status == NM_OK && at < text.len;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.len - at);
        size_t length = end == NULL ? text.len - at : (size_t)(end - (text.data + at));

        status = parse_line(patterns, (nm_bytes){text.data + at, length}, at, err);
        at += length + 1;
    }
    return status;
}

/* Most texts lack what is plain in a pattern, and to see that takes a fifth of what GLOB takes. */
static bool matches(const nm_patterns *patterns, const nm_pattern *pattern, const char *text)
{
    const char *texts = (const char *)patterns->texts.data;

    return strstr(text, texts + pattern->plain_offset) != NULL && sqlite3_strglob(texts + pattern->offset, text) == 0;
}

/* Patterns with one target. */
static bool matches_one_of(const nm_patterns *patterns, nm_pattern_target target, const nm_pattern_subject *subject)
{
    for (size_t at = patterns->first[target]; at != 0; at = patterns->items[at - 1].next) {
        const nm_pattern *pattern = &patterns->items[at - 1];

        if (!(subject->is_python && pattern->is_native) && matches(patterns, pattern, subject->texts[target]))
            return true;
    }
    return false;
}

bool nm_patterns_match(const nm_patterns *patterns, unsigned targets, const nm_pattern_subject *subject)
{
    for (int index = 0; index < NM_PATTERN_TARGET_COUNT; index++) {
        bool is_asked = (targets >> index & 1) != 0 && (subject->is_python || index < NM_PATTERN_PYTHON);

        if (is_asked && subject->texts[index] != NULL && matches_one_of(patterns, (nm_pattern_target)index, subject))
            return true;
    }
    return false;
}

void nm_patterns_free(nm_patterns *patterns)
{
    free(patterns->items);
    nm_buffer_free(&patterns->texts);
    *patterns = (nm_patterns){0};
}
