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

const char *nm_say_component(nm_language language, const char *component, const char *heap, const char *part,
                             size_t columns, char *out, size_t size)
{
    static const struct {
        const char *component;
        nm_sentence code;
    } names[] = {{"APP", NM_SAY_PART_PROGRAM},
                 {"PHYSICAL", NM_SAY_PART_PHYSICAL},
                 {"PAGE ROUNDING", NM_SAY_PART_PAGES},
                 {"RECORDED PROCESSES", NM_SAY_PART_RECORDED},
                 {"OTHER PROCESSES", NM_SAY_PART_OTHERS},
                 {"UNEXPLAINED", NM_SAY_PART_UNEXPLAINED},
                 {"REST", NM_SAY_PART_REST}};
    char code_name[64], heap_name[NM_SAY_HEAP_BYTES];
    nm_sentence code;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].component, component) == 0)
            return nm_sentence_put(names[i].code, language, NULL, out, size);
    snprintf(code_name, sizeof code_name, "screen.part.%s", part);
    nm_human_text(heap_name, sizeof heap_name, heap[0] == 0 ? component : heap, columns);
    if (heap[0] != 0 && nm_sentence_of(code_name, &code))
        return nm_sentence_put(code, language, NM_WORDS({"heap", heap_name}), out, size);
    snprintf(out, size, "%s", heap_name);
    return out;
}

const char *nm_heap_level_name(uint64_t level)
{
    static const char *const words[] = {"",           "driver", "pool",     "workspace", "pinned",
                                        "registered", "host",   "physical", "imported"};

    return level < sizeof words / sizeof *words ? words[level] : "";
}
