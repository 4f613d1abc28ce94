/* SPDX-License-Identifier: Apache-2.0
 *
 * Read as it is shown, in one walk: the form is small, and the text comes from a database of anybody. A reader that meets what it
 * does not know sets `at` to NULL, and reads nothing more.
 */
#include "say/said.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"

#define WORDS_MAX  14
#define WORD_BYTES 384
#define NAME_BYTES 64
#define OWN_WORDS  3 /* before those that are read */

typedef struct reader {
    const char *at; /* NULL: it has another form */
    const nm_listener *to;
    const nm_said_of *of;
    int depth;
} reader;

/* Words of one sentence: those of the finding, those that were read, and one for any other. */
typedef struct word_list {
    nm_word words[OWN_WORDS + WORDS_MAX + 2]; /* one for any other, and the end */
    char names[WORDS_MAX][NAME_BYTES];
    char texts[WORDS_MAX][WORD_BYTES];
    char site[WORD_BYTES], where[WORD_BYTES], place[NM_SAY_PLACE_BYTES];
    size_t count;
} word_list;

static void put_array(reader *r, char *out, size_t size);

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

static char peek(reader *r)
{
    if (r->at == NULL)
        return 0;
    r->at += strspn(r->at, " \t\r\n");
    return *r->at;
}

/* Goes behind the character, if it is the next. */
static bool take(reader *r, char character)
{
    if (character == 0 || peek(r) != character)
        return false;
    r->at++;
    return true;
}

static void want(reader *r, char character)
{
    if (!take(r, character))
        r->at = NULL;
}

/* What stands behind a backslash; of \u only what is one byte is written so, and of others a '?' is shown. */
static char escaped(reader *r)
{
    static const char letters[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";
    const char *letter = *r->at == 0 ? NULL : strchr(letters, *r->at);
    unsigned code;
    int len = 0;

    if (letter != NULL) {
        r->at++;
        return characters[letter - letters];
    }
    if (r->at[0] == 'u' && strspn(r->at + 1, "0123456789abcdefABCDEF") >= 4 &&
        sscanf(r->at + 1, "%4x%n", &code, &len) == 1) {
        r->at += 1 + len;
        return code > 0 && code < 0x80 ? (char)code : '?';
    }
    r->at = NULL;
    return 0;
}

/* Cut where it does not fit. */
static void read_text(reader *r, char *out, size_t size)
{
    size_t len = 0;

    want(r, '"');
    while (r->at != NULL && *r->at != '"') {
        char character = *r->at++;

        if (character == 0)
            r->at = NULL;
        else if (character == '\\')
            character = escaped(r);
        if (r->at != NULL && len + 1 < size)
            out[len++] = character;
    }
    out[len] = 0;
    want(r, '"');
}

/* ---- Values -------------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);

    return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

static int64_t integer_of(double value)
{
    return value >= 9.2e18 ? INT64_MAX : value <= -9.2e18 ? INT64_MIN : (int64_t)value;
}

static void show_number(const char *name, double value, int64_t integer, char out[NM_HUMAN_BYTES])
{
    if (ends_with(name, "bytes"))
        nm_human_bytes(out, integer);
    else if (ends_with(name, "cost_ns"))
        nm_human_cost(out, integer);
    else if (ends_with(name, "_ns"))
        nm_human_time(out, integer);
    else if (ends_with(name, "ratio"))
        nm_human_percent(out, value);
    else if (ends_with(name, "hours"))
        snprintf(out, NM_HUMAN_BYTES, "%.3g", value);
    else
        nm_human_count(out, integer);
}

/* A number as JSON has it. What has no point is taken whole, however large. */
static void read_number(reader *r, const char *name, char *out)
{
    size_t len = strspn(r->at, "-+.0123456789eE");
    bool is_integer = len > 0 && strspn(r->at, "-0123456789") == len;
    double value = len == 0 ? 0 : strtod(r->at, NULL);
    char text[NM_HUMAN_BYTES];

    if (len == 0 || !(value > -1e300 && value < 1e300)) {
        r->at = NULL;
        return;
    }
    show_number(name, value, is_integer ? strtoll(r->at, NULL, 10) : integer_of(value), text);
    r->at += len;
    memcpy(out, text, sizeof text);
}

static void read_value(reader *r, const char *name, char *out)
{
    char first = peek(r);

    if (first == '[') {
        put_array(r, out, WORD_BYTES);
    } else if (first == '"') {
        char text[WORD_BYTES];

        read_text(r, text, sizeof text);
        if (ends_with(name, "site"))
            nm_say_site(r->to->language, text, r->to->site_columns, out, WORD_BYTES);
        else
            nm_human_text(out, WORD_BYTES, text, WORD_BYTES / 4);
    } else if (r->at != NULL && strncmp(r->at, "null", 4) == 0) {
        snprintf(out, WORD_BYTES, "?");
        r->at += 4;
    } else if (r->at != NULL) {
        read_number(r, name, out);
    }
}

/* ---- Words --------------------------------------------------------------------------------------------------------- */

static void add_word(word_list *list, const char *name, const char *text)
{
    list->words[list->count++] = (nm_word){name, text};
}

static void add_own_words(const reader *r, word_list *list)
{
    const nm_said_of *of = r->of;
    char heap[WORD_BYTES];

    nm_say_place(r->to->language, r->to->is_shared, &of->owner, list->place);
    nm_human_text(heap, sizeof heap, of->heap, r->to->heap_columns);
    snprintf(list->where, sizeof list->where, "%s%s%.100s", list->place, heap[0] == 0 ? "" : " ", heap);
    nm_say_site(r->to->language, of->site, r->to->site_columns, list->site, sizeof list->site);
    add_word(list, "place", list->place);
    add_word(list, "where", list->where);
    add_word(list, "site", list->site);
}

static void read_words(reader *r, word_list *list)
{
    want(r, '{');
    for (size_t i = 0; r->at != NULL && !take(r, '}'); i++) {
        if (i == WORDS_MAX || (i > 0 && !take(r, ','))) {
            r->at = NULL;
            return;
        }
        peek(r);
        read_text(r, list->names[i], NAME_BYTES);
        want(r, ':');
        list->texts[i][0] = 0;
        read_value(r, list->names[i], list->texts[i]);
        add_word(list, list->names[i], list->texts[i]);
    }
}

/* A component's name is made of three words: its own, its heap's and its part's. */
static void name_component(const reader *r, word_list *list)
{
    const char *component = NULL, *heap = "", *part = "";
    char *out = NULL;

    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->words[i].name, "component") == 0) {
            component = list->words[i].text;
            out = list->texts[i - OWN_WORDS];
        } else if (strcmp(list->words[i].name, "heap") == 0) {
            heap = list->words[i].text;
        } else if (strcmp(list->words[i].name, "part") == 0) {
            part = list->words[i].text;
        }
    }
    if (component != NULL) {
        char name[WORD_BYTES];

        nm_say_component(r->to->language, component, heap, part, r->to->heap_columns, name, sizeof name);
        memcpy(out, name, sizeof name);
    }
}

/* ---- Sentences ----------------------------------------------------------------------------------------------------- */

static void put_sentence(reader *r, char *out, size_t size)
{
    word_list *list = calloc(1, sizeof *list);
    nm_sentence code;
    char name[NAME_BYTES];
    bool is_known;

    read_text(r, name, sizeof name);
    is_known = nm_sentence_of(name, &code);
    if (list == NULL) {
        r->at = NULL;
        return;
    }
    add_own_words(r, list);
    const char *before = r->at;
    if (take(r, ',') && peek(r) == '{')
        read_words(r, list);
    else if (r->at != NULL)
        r->at = before; /* the next is a code, too */
    name_component(r, list);
    add_word(list, "", "?");
    add_word(list, NULL, NULL);
    if (is_known && r->at != NULL)
        nm_sentence_put(code, r->to->language, list->words, out, size);
    free(list);
}

static void put_array(reader *r, char *out, size_t size)
{
    size_t len = 0;

    out[0] = 0;
    want(r, '[');
    if (++r->depth > NM_SAID_DEPTH_MAX)
        r->at = NULL;
    for (size_t i = 0; r->at != NULL && !take(r, ']'); i++) {
        if (i > 0)
            want(r, ',');
        peek(r);
        put_sentence(r, out + len, size - len);
        len += strlen(out + len);
    }
    r->depth--;
}

bool nm_said_put(const nm_listener *to, const nm_said_of *of, const char **json, char *out, size_t size)
{
    reader r = {.at = *json, .to = to, .of = of};

    put_array(&r, out, size);
    *json = r.at;
    return r.at != NULL;
}

/* ---- Lines --------------------------------------------------------------------------------------------------------- */

bool nm_said_next_line(const char **json, nm_sentence *label)
{
    reader r = {.at = *json};
    char name[NAME_BYTES];

    *label = NM_SAY_NOTHING;
    if (take(&r, '}')) { /* of the line before */
        if (take(&r, ']'))
            return false;
        want(&r, ',');
    } else {
        want(&r, '[');
        if (take(&r, ']'))
            return false;
    }
    want(&r, '{');
    peek(&r);
    read_text(&r, name, sizeof name);
    want(&r, ':');
    if (r.at != NULL && strcmp(name, "label") == 0) {
        peek(&r);
        read_text(&r, name, sizeof name);
        nm_sentence_of(name, label);
        want(&r, ',');
        peek(&r);
        read_text(&r, name, sizeof name);
        want(&r, ':');
    }
    peek(&r);
    *json = r.at != NULL && strcmp(name, "said") == 0 ? r.at : NULL;
    return *json != NULL;
}
