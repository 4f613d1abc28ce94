/* SPDX-License-Identifier: Apache-2.0
 *
 * A row is walked once: text is copied, a name replaced, and of [one/many] one word taken. The last figure put in is kept,
 * since the choice goes by it.
 */
#include "say/sentence.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const texts[][2] = {
/* by language */
#define NM_SENTENCE(code, name, english, chinese, when) {english, chinese},
#include "say/sentences.def"
#undef NM_SENTENCE
};

static const char *const code_names[] = {
#define NM_SENTENCE(code, name, english, chinese, when) name,
#include "say/sentences.def"
#undef NM_SENTENCE
};

typedef struct putter {
    char *out;
    size_t size, len;
    bool is_one;  /* the last figure was "1" */
    bool is_full; /* it was cut: nothing more goes in */
} putter;

const char *nm_sentence_row(nm_sentence code, nm_language language)
{
    return texts[code][language];
}

bool nm_sentence_of(const char *name, nm_sentence *code)
{
    for (int i = 0; i < NM_SENTENCE_COUNT; i++)
        if (strcmp(code_names[i], name) == 0) {
            *code = (nm_sentence)i;
            return true;
        }
    *code = NM_SAY_NOTHING;
    return false;
}

/* As much as fits, cut behind a whole character. */
static void put(putter *p, const char *text, size_t len)
{
    size_t room = p->is_full ? 0 : p->size - p->len - 1;

    if (len > room) {
        p->is_full = true;
        len = room;
        while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
            len--;
    }
    memcpy(p->out + p->len, text, len);
    p->len += len;
    p->out[p->len] = 0;
}

static const char *find_word(const nm_word *words, const char *name, size_t len)
{
    for (; words != NULL && words->name != NULL; words++)
        if (words->name[0] == 0 || (strlen(words->name) == len && memcmp(words->name, name, len) == 0))
            return words->text == NULL ? "" : words->text;
    assert(!"a word of the sentence was not given");
    return "?";
}

/* "[one/many]", of which `text` is what stands between the brackets. */
static void put_choice(putter *p, const char *text, size_t len)
{
    const char *slash = memchr(text, '/', len);
    size_t one_len = slash == NULL ? len : (size_t)(slash - text);

    if (p->is_one || slash == NULL)
        put(p, text, one_len);
    else
        put(p, slash + 1, len - one_len - 1);
}

const char *nm_sentence_put(nm_sentence code, nm_language language, const nm_word *words, char *out, size_t size)
{
    putter p = {.out = out, .size = size};
    const char *at = texts[code][language];

    out[0] = 0;
    while (*at != 0) {
        size_t plain_len = strcspn(at, "{[");
        char closing = at[plain_len] == '{' ? '}' : ']';
        const char *end = at[plain_len] == 0 ? NULL : strchr(at + plain_len, closing);

        put(&p, at, end == NULL ? strlen(at) : plain_len);
        if (end == NULL)
            break;
        const char *inner = at + plain_len + 1;
        size_t inner_len = (size_t)(end - inner);
        if (closing == '}') {
            const char *word = find_word(words, inner, inner_len);

            p.is_one = strcmp(word, "1") == 0;
            put(&p, word, strlen(word));
        } else {
            put_choice(&p, inner, inner_len);
        }
        at = end + 1;
    }
    return out;
}

nm_language nm_language_of_environment(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && value[0] != 0)
            return strncmp(value, "zh", 2) == 0 ? NM_CHINESE : NM_ENGLISH;
    }
    return NM_ENGLISH;
}
