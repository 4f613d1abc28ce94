/* SPDX-License-Identifier: Apache-2.0
 *
 * What many ranks have in common and what sets them apart: leaks summed up by site, verdicts of view health counted, and sites of
 * which one rank holds far more than the others. One query each over all ranks: of 512 none may look at pairs.
 */
#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "screen/rank_leaks.sql.h"
#include "screen/rank_measures.sql.h"
#include "screen/ranks.h"
#include "screen/uneven_sites.sql.h"

#define SITES_MAX    3
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

/* What they are counted of: ranks, or processes where there are none. */
static const char *all_of(const nm_screen *s, char out[NM_HUMAN_BYTES])
{
    return nm_human_count(out, s->ranks->rank_count > 0 ? s->ranks->rank_count : (int64_t)s->ranks->count);
}

/* ---- Leaks ---- */

static void add_leak(nm_screen *s, const nm_rank_leaks_row *row, bool is_first)
{
    char bytes[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES], rate[NM_HUMAN_BYTES], who[64];
    char site[TEXT_BYTES];

    nm_screen_begin(s, NM_SAY_RANKS_LABEL_LEAK, NM_LINE_BAD, is_first ? NM_RANK_WORST : NM_RANK_FAULT, "leak_by_site");
    nm_screen_rows(s, 2);
    nm_screen_number(s);
    nm_screen_say(s, NM_SAY_RANKS_LEAK,
                  NM_WORDS({"bytes", nm_human_bytes(bytes, row->leak_bytes)},
                           {"site", nm_screen_site(s, row->site, SITE_COLUMNS, site, sizeof site)}));
    nm_screen_say(s, NM_SAY_RANKS_LEAK_ON,
                  NM_WORDS({"n", nm_human_count(count, row->holder_count)}, {"all", all_of(s, all)},
                           {"who", who_of(s, row->has_rank, row->number, who)}));
    if (row->late_bytes_per_step > 0)
        nm_screen_say(s, NM_SAY_RANKS_LEAK_RATE,
                      NM_WORDS({"rate", nm_human_bytes(rate, (int64_t)row->late_bytes_per_step)}));
    nm_screen_say(s, NM_SAY_RANKS_LEAK_BLOCKS, NM_WORDS({"n", nm_human_count(count, row->leak_count)}));
}

nm_status nm_screen_rank_leak_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_rank_leaks_row row = {0};
    nm_status status = nm_screen_read_ranks(s, err);
    int64_t shown_count = 0;
    char number[NM_HUMAN_BYTES];

    if (status == NM_OK)
        status = nm_rank_leaks_ask(s->db, s->ranks->rank_count > 0, SITES_MAX, &rows, err);
    for (; status == NM_OK && nm_rank_leaks_next(rows, &row); shown_count++)
        add_leak(s, &row, shown_count == 0);
    if (row.site_count > shown_count) {
        nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_FAULT, "leak_by_site");
        nm_screen_say(s, NM_SAY_RANKS_LEAK_MORE, NM_WORDS({"n", nm_human_count(number, row.site_count - shown_count)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- Health ---- */

static void add_verdict(nm_screen *s, const nm_rank_measures_row *row)
{
    bool is_danger = strcmp(row->verdict, "danger") == 0;
    nm_sentence measure = nm_screen_measure_of(row->measure);
    char count[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES], value[NM_HUMAN_BYTES], name[TEXT_BYTES], who[64];

    nm_screen_begin(s, is_danger ? NM_SAY_RANKS_LABEL_DANGER : NM_SAY_RANKS_LABEL_WARNING,
                    is_danger ? NM_LINE_BAD : NM_LINE_WARNING, is_danger ? NM_RANK_FAULT : NM_RANK_WARNING, "health");
    if (measure == NM_SAY_MEASURE_COST)
        nm_human_cost(value, (int64_t)row->measured_value);
    else
        nm_human_percent(value, row->measured_value);
    nm_screen_say(s, NM_SAY_RANKS_VERDICT,
                  NM_WORDS({"measure", nm_sentence_put(measure, s->language, NULL, name, sizeof name)},
                           {"n", nm_human_count(count, row->holder_count)}, {"all", all_of(s, all)},
                           {"who", who_of(s, row->has_rank, row->number, who)}, {"value", value}));
    s->fault_count++;
}

nm_status nm_screen_rank_health_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_rank_measures_row row;
    nm_status status = nm_screen_read_ranks(s, err);

    if (status == NM_OK)
        status = nm_rank_measures_ask(s->db, &rows, err);
    while (status == NM_OK && nm_rank_measures_next(rows, &row))
        add_verdict(s, &row);
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
