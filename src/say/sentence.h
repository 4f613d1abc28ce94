/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentences in two languages, put together of a code and named texts. They stand in sentences.def, one a row, with when they are said:
 *
 *     NM_SENTENCE(LEAK_BLOCKS, "screen.leak.blocks", "{n} block[/s] live", "{n} 个块存活",
 *         "it has not grown from step to step")
 *
 * {name} is the text given under that name; [one/many] the first of two words where the figure before it is "1", else the
 * second. Chinese may have the names in another order, and has no [one/many].
 */
#ifndef NM_SAY_SENTENCE_H
#define NM_SAY_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum nm_language { NM_ENGLISH, NM_CHINESE } nm_language;

typedef enum nm_sentence {
#define NM_SENTENCE(code, name, english, chinese, when) NM_SAY_##code,
#include "say/sentences.def"
#undef NM_SENTENCE
    NM_SENTENCE_COUNT
} nm_sentence;

typedef struct nm_word {
    const char *name;
    const char *text;
} nm_word;

/* The words of a sentence, as nm_sentence_put takes them: NM_WORDS({"n", count}, {"size", bytes}). */
#define NM_WORDS(...)     ((const nm_word[]){__VA_ARGS__, {NULL, NULL}})

#define NM_SENTENCE_BYTES 1024 /* room that every sentence on a screen needs; what is longer is cut */

/* Of its name, such as "screen.leak.blocks"; false: there is none, and *code is NM_SAY_NOTHING. */
bool nm_sentence_of(const char *name, nm_sentence *code);

const char *nm_sentence_row(nm_sentence code, nm_language language); /* as it stands in sentences.def */

/* Puts the sentence into `out`, which has room for `size` bytes and is given back: cut behind a whole character where it does not
 * fit. `words` ends with a word without name; NULL: there are none. That a name of the sentence is missing is a mistake of the
 * caller's (assert), unless the list has a word with the name "", which then stands there. Texts are taken as they are: what is foreign is made safe where the line is shown. */
const char *nm_sentence_put(nm_sentence code, nm_language language, const nm_word *words, char *out, size_t size);

/* The language that the environment asks for: the first of LC_ALL, LC_MESSAGES and LANG that is set and not empty. */
nm_language nm_language_of_environment(void);

#endif
