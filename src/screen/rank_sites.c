/* SPDX-License-Identifier: Apache-2.0
 *
 * What many ranks have in common and what sets them apart: leaks summed up by site, verdicts of view health counted, and sites of
 * which one rank holds far more than the others. One query each over all ranks: of 512 none may look at pairs.
 */
#include <string.h>

#include "base/human.h"
#include "screen/finding_groups.sql.h"
#include "screen/findings.h"
#include "screen/groups.h"
#include "screen/ranks.h"
#include "screen/uneven_sites.sql.h"

#define SITES_MAX    3
#define MEASURES_MAX 16
#define DEVICES_MAX  3
#define SITE_COLUMNS 36
#define TEXT_BYTES   512

/* "rank 3", "pid 300" or, of neither, "?" */
static const char *who_of(const nm_screen *s, bool has_rank, int64_t number, char out[64])
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)number);
    return nm_sentence_put(has_rank ? NM_SAY_RANKS_RANK : NM_SAY_RANKS_PID, s->language, NM_WORDS({"n", text}), out,
                           64);
}

/* What several have in common. */
static void say_group(nm_screen *s, const nm_finding_groups_row *row)
{
    const nm_findings_row shown = {.kind = "", .site = row->site, .heap = "", .device_kind = ""};
    const char *json = row->sentence;

    nm_screen_say_json(s, &shown, &json);
}

/* ---- Leaks ---- */

nm_status nm_screen_rank_leak_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_finding_groups_row row = {0};
    nm_status status = nm_finding_groups_ask(s->db, "leak", SITES_MAX, &rows, err);
    int64_t shown_count = 0;
    char number[NM_HUMAN_BYTES];

    for (; status == NM_OK && nm_finding_groups_next(rows, &row); shown_count++) {
        nm_screen_begin(s, NM_SAY_RANKS_LABEL_LEAK, NM_LINE_BAD, shown_count == 0 ? NM_RANK_WORST : NM_RANK_FAULT,
                        "leak_by_site");
        nm_screen_rows(s, 2);
        nm_screen_number(s);
        say_group(s, &row);
    }
    if (row.all_count > shown_count) {
        nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_FAULT, "leak_by_site");
        nm_screen_say(s, NM_SAY_RANKS_LEAK_MORE, NM_WORDS({"n", nm_human_count(number, row.all_count - shown_count)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- Devices that several ranks share ---- */

static nm_status add_shared(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_findings_row row = {0};
    nm_status status = nm_findings_ask(s->db, "shared device", false, NM_NULL, DEVICES_MAX, &rows, err);

    while (status == NM_OK && nm_findings_next(rows, &row)) {
        nm_screen_rank rank = s->fault_count == 0 ? NM_RANK_WORST : NM_RANK_FAULT;

        nm_screen_begin_finding(s, &row, rank);
        nm_screen_end_finding(s, &row, rank);
    }
    return nm_question_end(rows, status, err);
}

/* ---- Health ---- */

nm_status nm_screen_rank_health_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_finding_groups_row row;
    nm_status status = add_shared(s, err);

    if (status == NM_OK)
        status = nm_finding_groups_ask(s->db, NULL, MEASURES_MAX, &rows, err);

    while (status == NM_OK && nm_finding_groups_next(rows, &row)) {
        bool is_fault = strcmp(row.severity, "fault") == 0;

        nm_screen_begin(s, is_fault ? NM_SAY_RANKS_LABEL_DANGER : NM_SAY_RANKS_LABEL_WARNING,
                        is_fault ? NM_LINE_BAD : NM_LINE_WARNING, is_fault ? NM_RANK_FAULT : NM_RANK_WARNING, "health");
        say_group(s, &row);
        s->fault_count++;
    }
    return nm_question_end(rows, status, err);
}

/* ---- Ranks that differ ---- */

nm_status nm_screen_rank_uneven_lines(nm_screen *s, nm_error *err)
{
    char who[64], bytes[NM_HUMAN_BYTES], mean[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], site[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_uneven_sites_row row;
    nm_status status = nm_uneven_sites_ask(s->db, SITES_MAX, &rows, err);

    while (status == NM_OK && nm_uneven_sites_next(rows, &row)) {
        nm_screen_begin(s, NM_SAY_RANKS_LABEL_UNEVEN, NM_LINE_WARNING, NM_RANK_WARNING, "rank_imbalance");
        nm_screen_say(
            s, NM_SAY_RANKS_UNEVEN,
            NM_WORDS({"who", who_of(s, row.has.rank, row.rank, who)}, {"bytes", nm_human_bytes(bytes, row.max_bytes)},
                     {"site", nm_screen_site(s, row.site, SITE_COLUMNS, site, sizeof site)},
                     {"mean", nm_human_bytes(mean, row.mean_bytes)}, {"n", nm_human_count(count, row.rank_count)}));
        s->fault_count++;
    }
    return nm_question_end(rows, status, err);
}
