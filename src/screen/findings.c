/* SPDX-License-Identifier: Apache-2.0
 *
 * How each kind of finding is shown: its label, how much of a site, and the view that has it in full.
 */
#include "screen/findings.h"

#include <string.h>

#include "say/said.h"

#define HEAP_COLUMNS 24

typedef struct finding_look {
    const char *kind;
    const char *view; /* that the screen names where a line did not fit */
    nm_sentence label;
    int rows_max;
    size_t site_columns;
} finding_look;

static const finding_look *look_of(const char *kind)
{
    static const finding_look looks[] = {
        {"out of memory", "out_of_memory", NM_SAY_LABEL_ASKED, 2, 44},
        {"leak", "leak_by_site", NM_SAY_LABEL_LEAK, 2, 48},
        {"suspect", "suspect_by_site", NM_SAY_LABEL_SUSPECT, 2, 40},
        {"misuse", "misuse", NM_SAY_LABEL_MISUSE, 1, 44},
        {"fragmentation", "health", NM_SAY_LABEL_FRAGMENTED, 2, 44},
        {"pool hit rate", "health", NM_SAY_LABEL_MISSES, 2, 44},
        {"allocation cost", "health", NM_SAY_LABEL_COST, 2, 44},
        {"zero copy", "health", NM_SAY_LABEL_COPIES, 2, 44},
        {"pending memory", "pool_summary", NM_SAY_LABEL_STREAM, 2, 44},
        {"idle streams", "device_memory", NM_SAY_LABEL_STREAM, 2, 44},
        {"cache growth", "timeline", NM_SAY_LABEL_GROWS, 2, 44},
        {"shared device", "device_peak", NM_SAY_LABEL_SHARED, 2, 44},
        {"uneven rank", "peak_by_site", NM_SAY_RANKS_LABEL_UNEVEN, 2, 36},
        {"object leak", "object_leak", NM_SAY_LABEL_OBJECT, 2, 44},
        {"host growth", "host_growth", NM_SAY_LABEL_HOST, 2, 44},
        {"", "finding", NM_SAY_LABEL_NOTE, 2, 36}, /* of several processes, or of a newer version */
    };
    const finding_look *look = looks;

    while (look->kind[0] != 0 && strcmp(look->kind, kind) != 0)
        look++;
    return look;
}

const char *nm_screen_put_json(nm_screen *s, const nm_findings_row *row, const char **json, char out[NM_SENTENCE_BYTES])
{
    const nm_listener to = {s->language, nm_screen_is_shared(s), look_of(row->kind)->site_columns, HEAP_COLUMNS};
    const nm_said_of of = {*NM_SCREEN_OWNER(row), row->heap, row->site};

    s->is_unreadable |= !nm_said_put(&to, &of, json, out, NM_SENTENCE_BYTES);
    return out;
}

void nm_screen_say_json(nm_screen *s, const nm_findings_row *row, const char **json)
{
    char text[NM_SENTENCE_BYTES];

    nm_screen_add(s, nm_screen_put_json(s, row, json, text));
}

void nm_screen_begin_finding(nm_screen *s, const nm_findings_row *row, nm_screen_rank rank)
{
    const finding_look *look = look_of(row->kind);
    const char *json = row->sentence;

    nm_screen_begin(s, look->label, strcmp(row->severity, "fault") == 0 ? NM_LINE_BAD : NM_LINE_WARNING, rank,
                    look->view);
    nm_screen_rows(s, look->rows_max);
    nm_screen_number(s);
    nm_screen_say_json(s, row, &json);
}

/* Why is as grave as what; what held the device is shown before who. */
static void begin_evidence(nm_screen *s, const nm_findings_row *row, nm_sentence label, nm_screen_rank rank)
{
    bool is_why = label == NM_SAY_LABEL_WHY, is_held = label == NM_SAY_LABEL_HELD;
    bool is_fault = strcmp(row->severity, "fault") == 0;

    nm_screen_begin(s, label,
                    !is_why    ? NM_LINE_PLAIN
                    : is_fault ? NM_LINE_BAD
                               : NM_LINE_WARNING,
                    is_why    ? rank
                    : is_held ? NM_RANK_PEAK
                              : NM_RANK_NOTE,
                    look_of(row->kind)->view);
    nm_screen_rows(s, is_why || is_held ? 2 : 1);
}

void nm_screen_end_finding(nm_screen *s, const nm_findings_row *row, nm_screen_rank rank)
{
    const char *json = row->evidence;
    nm_sentence label;

    while (row->has.evidence && !s->is_unreadable && nm_said_next_line(&json, &label)) {
        begin_evidence(s, row, label, rank);
        nm_screen_say_json(s, row, &json);
    }
    s->is_unreadable |= json == NULL;
    if (!row->has.remedy)
        return;
    json = row->remedy;
    nm_screen_begin(s, NM_SAY_LABEL_REMEDY, NM_LINE_PLAIN, rank, look_of(row->kind)->view);
    nm_screen_rows(s, 2);
    nm_screen_say_json(s, row, &json);
}
