/* SPDX-License-Identifier: Apache-2.0
 *
 * The few words that stand for places, sites and parts; whatever else they are called is foreign text, cut and made safe.
 */
#include "say/names.h"

#include <stdio.h>
#include <string.h>

#include "base/human.h"

const char *nm_say_device_kind(nm_language language, const char *kind)
{
    return kind[0] == 0 || strcmp(kind, "DEVICE") == 0 ? nm_sentence_row(NM_SAY_PLACE_DEVICE, language) : kind;
}

const char *nm_say_place(nm_language language, bool is_shared, const nm_say_owner *owner, char out[NM_SAY_PLACE_BYTES])
{
    size_t len = 0;
    char number[NM_HUMAN_BYTES];

    out[0] = 0;
    snprintf(number, sizeof number, "%lld", (long long)(owner->has_rank ? owner->rank : owner->pid));
    if (is_shared && (owner->has_rank || owner->has_pid)) {
        nm_sentence_put(owner->has_rank ? NM_SAY_PLACE_RANK : NM_SAY_PLACE_PID, language, NM_WORDS({"n", number}), out,
                        NM_SAY_PLACE_BYTES);
        len = strlen(out);
    }
    if (owner->has_device)
        snprintf(out + len, NM_SAY_PLACE_BYTES - len, "%.12s %lld", nm_say_device_kind(language, owner->device_kind),
                 (long long)owner->device);
    else
        nm_sentence_put(NM_SAY_PLACE_HOST, language, NULL, out + len, NM_SAY_PLACE_BYTES - len);
    return out;
}

const char *nm_say_site(nm_language language, const char *site, size_t columns, char *out, size_t size)
{
    static const nm_sentence codes[] = {NM_SAY_SITE_NONE, NM_SAY_SITE_CUT, NM_SAY_SITE_BASELINE};

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (strcmp(nm_sentence_row(codes[i], NM_ENGLISH), site) == 0)
            return nm_sentence_put(codes[i], language, NULL, out, size);
    return nm_human_text(out, size, site, columns);
}

typedef struct word_code {
    const char *word;
    nm_sentence code;
} word_code;

/* 0: it is none of them. */
static nm_sentence code_of(const word_code *codes, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(codes[i].word, word) == 0)
            return codes[i].code;
    return 0;
}

const char *nm_say_component(nm_language language, const char *component, const char *heap, const char *part,
                             size_t columns, char *out, size_t size)
{
    static const word_code components[] = {{"APP", NM_SAY_PART_PROGRAM},
                                           {"PHYSICAL", NM_SAY_PART_PHYSICAL},
                                           {"PAGE ROUNDING", NM_SAY_PART_PAGES},
                                           {"RECORDED PROCESSES", NM_SAY_PART_RECORDED},
                                           {"OTHER PROCESSES", NM_SAY_PART_OTHERS},
                                           {"UNEXPLAINED", NM_SAY_PART_UNEXPLAINED},
                                           {"REST", NM_SAY_PART_REST}};
    static const word_code parts[] = {{"used", NM_SAY_PART_USED},   {"pending", NM_SAY_PART_PENDING},
                                      {"new", NM_SAY_PART_NEW},     {"private", NM_SAY_PART_PRIVATE},
                                      {"idle", NM_SAY_PART_IDLE},   {"empty", NM_SAY_PART_EMPTY},
                                      {"small", NM_SAY_PART_SMALL}, {"pinned", NM_SAY_PART_PINNED}};
    nm_sentence code = code_of(components, sizeof components / sizeof components[0], component);

    if (code != 0)
        return nm_sentence_put(code, language, NULL, out, size);
    nm_human_text(out, size, heap[0] == 0 ? component : heap, columns);
    code = heap[0] == 0 ? 0 : code_of(parts, sizeof parts / sizeof parts[0], part);
    if (code != 0) {
        char name[NM_SAY_HEAP_BYTES];

        snprintf(name, sizeof name, "%s", out);
        nm_sentence_put(code, language, NM_WORDS({"heap", name}), out, size);
    }
    return out;
}
