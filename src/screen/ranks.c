/* SPDX-License-Identifier: Apache-2.0
 *
 * Many ranks on one screen: which failed first and what became of the others, which are missing, and a table of the fullest, the
 * median and the first to fail. Failures are put into an order only as far as clocks go (view z_rank_summary says how far that is).
 * What they leak and how they differ: rank_sites.c.
 */
#include "screen/ranks.h"

#include <string.h>

#include "base/cells.h"
#include "base/human.h"
#include "screen/groups.h"
#include "screen/shared_devices.sql.h"

#define WORDS_BYTES  256
#define NAMES_MAX    6 /* of ranks in one line */
#define KINDS_MAX    4 /* of failures in one line */
#define DEVICES_MAX  4
#define HOST_COLUMNS 16

bool nm_screen_is_ranked(const nm_screen *s)
{
    return s->has_ranks || s->device_holder_count > NM_SCREEN_PROCESSES_MAX;
}

nm_status nm_screen_read_ranks(nm_screen *s, nm_error *err)
{
    return s->ranks != NULL ? NM_OK : nm_rank_list_read(s->db, &s->ranks, err);
}

int64_t nm_screen_first_out_of_memory(const nm_screen *s)
{
    const nm_rank_list *list = s->ranks;

    return list == NULL || list->first == NULL || list->unknown_count > 0 ? 0 : list->first->out_of_memory_id;
}

/* ---- Words ---- */

/* "rank 3", or "pid 300" */
static const char *name_of(const nm_screen *s, const nm_rank *rank, char out[WORDS_BYTES])
{
    char number[32];

    snprintf(number, sizeof number, "%lld", (long long)(rank->rank >= 0 ? rank->rank : rank->pid));
    return nm_sentence_put(rank->rank >= 0 ? NM_SAY_RANKS_RANK : NM_SAY_RANKS_PID, s->language, NM_WORDS({"n", number}),
                           out, WORDS_BYTES);
}

/* "n17 NPU 1", "NPU 1" where all are on one host, or "" */
static const char *place_of(const nm_screen *s, const nm_rank *rank, char out[WORDS_BYTES])
{
    char number[NM_HUMAN_BYTES], devices[WORDS_BYTES] = "", host[WORDS_BYTES] = "";
    const nm_rank_list *list = s->ranks;

    if (list->host_count > 1)
        nm_human_text(host, sizeof host, rank->host, HOST_COLUMNS);
    if (rank->device_count == 1)
        snprintf(devices, sizeof devices, "%s %lld", s->device_kind, (long long)rank->device);
    else if (rank->device_count > 1)
        nm_sentence_put(NM_SAY_RANKS_DEVICES, s->language, NM_WORDS({"n", nm_human_count(number, rank->device_count)}),
                        devices, sizeof devices);
    snprintf(out, WORDS_BYTES, "%.100s%s%.100s", host, host[0] != 0 && devices[0] != 0 ? " " : "", devices);
    return out;
}

/* "rank 3 (n17 NPU 1)" */
static const char *who_of(const nm_screen *s, const nm_rank *rank, char out[WORDS_BYTES])
{
    char name[WORDS_BYTES], place[WORDS_BYTES];

    name_of(s, rank, name);
    place_of(s, rank, place);
    snprintf(out, WORDS_BYTES, place[0] == 0 ? "%.60s" : "%.60s (%.180s)", name, place);
    return out;
}

/* "out of memory", "signal 9" */
static const char *failure_of(const nm_screen *s, nm_rank_failure failure, int64_t end_status, char out[WORDS_BYTES])
{
    static const nm_sentence codes[NM_FAILURE_COUNT] = {
        [NM_FAILURE_NONE] = NM_SAY_NOTHING,
        [NM_FAILURE_MEMORY] = NM_SAY_RANKS_MEMORY,
        [NM_FAILURE_RESOURCES] = NM_SAY_RANKS_RESOURCES,
        [NM_FAILURE_SIGNAL] = NM_SAY_RANKS_SIGNAL,
        [NM_FAILURE_STATUS] = NM_SAY_RANKS_STATUS,
    };
    nm_sentence code = failure == NM_FAILURE_SIGNAL && end_status < 0 ? NM_SAY_RANKS_SIGNAL_UNKNOWN : codes[failure];
    char number[32];

    snprintf(number, sizeof number, "%lld", (long long)end_status);
    return nm_sentence_put(code, s->language, NM_WORDS({"n", number}), out, WORDS_BYTES);
}

/* The same, with its step; how else it ended. */
static const char *end_of(const nm_screen *s, const nm_rank *rank, char out[WORDS_BYTES])
{
    char number[NM_HUMAN_BYTES];
    size_t len;

    if (rank->end != NM_RANK_FAILED)
        return nm_sentence_put(rank->end == NM_RANK_DONE       ? NM_SAY_RANKS_DONE
                               : rank->end == NM_RANK_SNAPSHOT ? NM_SAY_END_SNAPSHOT
                                                               : NM_SAY_RANKS_END_UNSEEN,
                               s->language, NULL, out, WORDS_BYTES);
    failure_of(s, rank->failure, rank->end_status, out);
    len = strlen(out);
    if (rank->step >= 0)
        nm_sentence_put(NM_SAY_RANKS_AT_STEP, s->language, NM_WORDS({"step", nm_human_count(number, rank->step)}),
                        out + len, WORDS_BYTES - len);
    return out;
}

/* ---- How they ended ---- */

static void say_first(nm_screen *s)
{
    const nm_rank_list *list = s->ranks;
    bool is_all = list->unseen_count == 0 && (list->world_size == 0 || list->rank_count == list->world_size);
    char who[WORDS_BYTES], what[WORDS_BYTES], count[NM_HUMAN_BYTES], time[NM_HUMAN_BYTES];

    who_of(s, list->first, who);
    end_of(s, list->first, what);
    if (list->same_count > 0)
        nm_screen_say(s, NM_SAY_RANKS_SAME,
                      NM_WORDS({"who", who}, {"what", what}, {"n", nm_human_count(count, list->same_count)}));
    else
        nm_screen_say(s, is_all ? NM_SAY_RANKS_FIRST : NM_SAY_RANKS_FIRST_SEEN, NM_WORDS({"who", who}, {"what", what}));
    if (list->followed_count > 0)
        nm_screen_say(s, NM_SAY_RANKS_FOLLOWED,
                      NM_WORDS({"n", nm_human_count(count, list->followed_count)},
                               {"time", nm_human_cost(time, list->followed_ns)}));
}

nm_status nm_screen_say_ranks_end(nm_screen *s, bool *has_failed, nm_error *err)
{
    nm_status status = nm_screen_read_ranks(s, err);
    char count[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES];
    const nm_rank_list *list = s->ranks;

    *has_failed = status == NM_OK && list->failed_count > 0;
    if (status != NM_OK || list->count == 0)
        return status;
    nm_human_count(all, (int64_t)list->count - list->snapshot_count);
    if (list->snapshot_count == (int64_t)list->count)
        nm_screen_say(s, list->other_count == 0 ? NM_SAY_END_SNAPSHOTS : NM_SAY_END_OTHERS, NULL);
    else if (list->failed_count == 0 && list->unseen_count == 0)
        nm_screen_say(s, NM_SAY_RANKS_ALL_DONE, NM_WORDS({"n", all}));
    else if (list->failed_count == 0)
        nm_screen_say(s, NM_SAY_RANKS_UNSEEN, NM_WORDS({"n", nm_human_count(count, list->unseen_count)}, {"all", all}));
    else if (list->first == NULL || list->unknown_count > 0)
        nm_screen_say(s, NM_SAY_RANKS_FAILED, NM_WORDS({"n", nm_human_count(count, list->failed_count)}, {"all", all}));
    else
        say_first(s);
    return NM_OK;
}

/* When the first failed: on the wall clock where there are several recordings, each with a beginning of its own. */
static void add_when(nm_screen *s)
{
    const nm_rank_list *list = s->ranks;
    const nm_rank *first = list->first;
    char who[WORDS_BYTES], pid[32], time[WORDS_BYTES], number[NM_HUMAN_BYTES];
    bool is_clock = list->input_count > 1 && first->failed_at[0] != 0;

    if (first->failed_ns < 0)
        return;
    if (is_clock)
        nm_sentence_put(NM_SAY_RANKS_UTC, s->language, NM_WORDS({"time", first->failed_at}), time, sizeof time);
    else
        snprintf(time, sizeof time, "%s", nm_human_time(number, first->failed_ns));
    snprintf(pid, sizeof pid, "%lld", (long long)first->pid);
    nm_screen_begin(s, NM_SAY_RANKS_LABEL_FIRST, NM_LINE_BAD, NM_RANK_WORST, "z_rank_summary");
    nm_screen_rows(s, 2);
    who_of(s, first, who);
    if (first->rank < 0 || first->pid < 0)
        nm_screen_say(s, NM_SAY_RANKS_WHEN_PID, NM_WORDS({"who", who}, {"time", time}));
    else
        nm_screen_say(s, NM_SAY_RANKS_WHEN, NM_WORDS({"who", who}, {"pid", pid}, {"time", time}));
    if (list->doubt_ns > 0)
        nm_screen_say(s, NM_SAY_RANKS_CLOCKS, NM_WORDS({"time", nm_human_time(number, list->doubt_ns)}));
}

/* "rank 3, rank 9 and 4 more" */
static void add_same(nm_screen *s)
{
    const nm_rank_list *list = s->ranks;
    char names[NM_SENTENCE_BYTES] = "", name[WORDS_BYTES], number[NM_HUMAN_BYTES];
    int64_t count = 0;

    for (size_t i = 0; i < list->count && count < NAMES_MAX; i++) {
        const nm_rank *rank = &list->ranks[i];
        size_t len = strlen(names);

        if (rank->order == NM_ORDER_SAME_TIME && rank->job == list->first->job)
            snprintf(names + len, sizeof names - len, "%s%.60s", count++ == 0 ? "" : ", ", name_of(s, rank, name));
    }
    if (count == 0)
        return;
    nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_WARNING, "z_rank_summary");
    nm_screen_say(s, NM_SAY_RANKS_WITH, NM_WORDS({"list", names}));
    if (list->same_count > count)
        nm_screen_say(s, NM_SAY_RANKS_AND_MORE, NM_WORDS({"n", nm_human_count(number, list->same_count - count)}));
}

/* ---- What became of the others ---- */

typedef struct failure_kind {
    nm_rank_failure failure;
    int64_t end_status, count;
} failure_kind;

/* Counts one of those that followed; false: there is no room for another kind. Of memory the status says nothing more. */
static bool count_kind(failure_kind kinds[KINDS_MAX], const nm_rank *rank)
{
    bool has_status = rank->failure == NM_FAILURE_SIGNAL || rank->failure == NM_FAILURE_STATUS;

    for (int i = 0; i < KINDS_MAX; i++) {
        failure_kind *kind = &kinds[i];

        if (kind->count == 0)
            *kind = (failure_kind){.failure = rank->failure, .end_status = has_status ? rank->end_status : 0};
        if (kind->failure == rank->failure && (!has_status || kind->end_status == rank->end_status)) {
            kind->count++;
            return true;
        }
    }
    return false;
}

/* "127 x out of memory, 384 x status 1" */
static void add_followers(nm_screen *s)
{
    const nm_rank_list *list = s->ranks;
    failure_kind kinds[KINDS_MAX] = {0};
    char what[WORDS_BYTES], number[NM_HUMAN_BYTES];
    int64_t other_count = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->ranks[i].order == NM_ORDER_FOLLOWED && list->ranks[i].job == list->first->job)
            other_count += !count_kind(kinds, &list->ranks[i]);
    if (kinds[0].count == 0)
        return;
    nm_screen_begin(s, NM_SAY_RANKS_LABEL_THEN, NM_LINE_PLAIN, NM_RANK_WARNING, "z_rank_summary");
    for (int i = 0; i < KINDS_MAX && kinds[i].count > 0; i++) {
        nm_screen_say(s, i == 0 ? NM_SAY_NOTHING : NM_SAY_RANKS_COMMA, NULL);
        nm_screen_say(s, NM_SAY_RANKS_KIND,
                      NM_WORDS({"n", nm_human_count(number, kinds[i].count)},
                               {"what", failure_of(s, kinds[i].failure, kinds[i].end_status, what)}));
    }
    if (other_count > 0)
        nm_screen_say(s, NM_SAY_RANKS_AND_MORE, NM_WORDS({"n", nm_human_count(number, other_count)}));
}

/* Adds the ranks from `from` up to, not with, `to`: "7" or "7-9". False: they are too many to be named. */
static bool add_range(char *out, size_t size, int64_t from, int64_t to, int *range_count)
{
    size_t len = strlen(out);

    if (from >= to)
        return true;
    if (*range_count == NAMES_MAX)
        return false;
    snprintf(out + len, size - len, "%s%lld", (*range_count)++ == 0 ? "" : ", ", (long long)from);
    len = strlen(out);
    if (from + 1 < to)
        snprintf(out + len, size - len, "-%lld", (long long)(to - 1));
    return true;
}

/* Ranks of which no process is here, by the size of the world that the others were told. */
static void add_missing(nm_screen *s)
{
    const nm_rank_list *list = s->ranks;
    char names[NM_SENTENCE_BYTES] = "", count[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES];
    int64_t missing_count = list->world_size - list->rank_count, next = 0;
    int range_count = 0;
    bool is_whole = true;

    if (missing_count <= 0)
        return;
    for (size_t i = 0; i < list->count && is_whole; i++) {
        if (list->ranks[i].rank < 0)
            continue;
        is_whole = add_range(names, sizeof names, next, list->ranks[i].rank, &range_count);
        if (next <= list->ranks[i].rank)
            next = list->ranks[i].rank + 1;
    }
    if (is_whole)
        is_whole = add_range(names, sizeof names, next, list->world_size, &range_count);
    nm_screen_begin(s, NM_SAY_RANKS_LABEL_MISSING, NM_LINE_WARNING, NM_RANK_WORST, "z_rank_summary");
    nm_screen_say(s, NM_SAY_RANKS_MISSING,
                  NM_WORDS({"n", nm_human_count(count, missing_count)}, {"all", nm_human_count(all, list->world_size)},
                           {"list", names}));
    nm_screen_add(s, is_whole ? "" : ", ...");
}

nm_status nm_screen_rank_end_lines(nm_screen *s, nm_error *err)
{
    nm_status status = nm_screen_read_ranks(s, err);

    if (status != NM_OK)
        return status;
    if (s->ranks->first != NULL && s->ranks->unknown_count == 0) {
        add_when(s);
        add_same(s);
        add_followers(s);
    }
    add_missing(s);
    return NM_OK;
}

/* ---- The table ---- */

#define WHO_CELLS    24
#define PEAK_CELLS   17
#define FIGURE_CELLS 10

/* Adds the text and spaces up to `cells`: behind it, or before it. */
static void add_cell(nm_screen *s, const char *text, size_t cells, bool is_right)
{
    char shown[WORDS_BYTES], spaces[WORDS_BYTES];
    size_t used = 0, len;

    nm_cells_text(shown, sizeof shown, text, strlen(text), cells);
    len = strlen(shown);
    while (nm_cells_fit(shown, len, used) < len)
        used++;
    snprintf(spaces, sizeof spaces, "%*s", (int)(cells - used), "");
    nm_screen_add(s, is_right ? spaces : shown);
    nm_screen_add(s, is_right ? shown : spaces);
}

static void add_title(nm_screen *s, nm_sentence code, size_t cells)
{
    char text[WORDS_BYTES];

    add_cell(s, nm_sentence_put(code, s->language, NULL, text, sizeof text), cells, true);
}

static void add_figure(nm_screen *s, int64_t bytes, size_t cells)
{
    char text[NM_HUMAN_BYTES];

    add_cell(s, bytes < 0 ? "-" : nm_human_bytes(text, bytes), cells, true);
}

static void add_row(nm_screen *s, nm_sentence label, nm_screen_kind kind, const nm_rank *rank)
{
    char name[WORDS_BYTES], place[WORDS_BYTES], who[WORDS_BYTES * 2], end[WORDS_BYTES];

    if (rank == NULL)
        return;
    nm_screen_begin(s, label, kind, NM_RANK_PEAK, "z_rank_summary");
    snprintf(who, sizeof who, "%s  %s", name_of(s, rank, name), place_of(s, rank, place));
    add_cell(s, who, WHO_CELLS, false);
    add_figure(s, rank->peak_bytes, PEAK_CELLS);
    add_figure(s, rank->reserved_bytes, FIGURE_CELLS);
    add_figure(s, rank->leak_bytes, FIGURE_CELLS);
    nm_screen_add(s, "  ");
    nm_screen_add(s, end_of(s, rank, end));
}

/* "peak of 64.0 GiB", where all devices are alike. */
static void add_peak_title(nm_screen *s)
{
    char text[WORDS_BYTES], bytes[NM_HUMAN_BYTES];

    if (s->ranks->capacity_bytes > 0)
        nm_sentence_put(NM_SAY_RANKS_PEAK_OF, s->language,
                        NM_WORDS({"bytes", nm_human_bytes(bytes, s->ranks->capacity_bytes)}), text, sizeof text);
    else
        nm_sentence_put(NM_SAY_RANKS_PEAK, s->language, NULL, text, sizeof text);
    add_cell(s, text, PEAK_CELLS, true);
}

static void add_device(nm_screen *s, const nm_shared_devices_row *row)
{
    char name[WORDS_BYTES], number[NM_HUMAN_BYTES];
    nm_rank place = {.device = row->device, .device_count = 1};

    snprintf(place.host, sizeof place.host, "%s", row->host);
    nm_screen_begin(s, NM_SAY_NOTHING,
                    row->capacity_bytes > 0 && row->peak_bytes > row->capacity_bytes ? NM_LINE_BAD : NM_LINE_PLAIN,
                    NM_RANK_PEAK, "device_peak");
    add_cell(s, place_of(s, &place, name), WHO_CELLS, false);
    add_figure(s, row->peak_bytes, PEAK_CELLS);
    add_figure(s, row->capacity_bytes, FIGURE_CELLS);
    add_cell(s, nm_human_count(number, row->holder_count), FIGURE_CELLS, true);
}

/* Where several ranks hold memory of one device, or devices are not alike: the fullest. */
static nm_status add_devices(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_shared_devices_row row = {0};
    int64_t shown_count = 0;
    char number[NM_HUMAN_BYTES];
    nm_status status = nm_shared_devices_ask(s->db, DEVICES_MAX, &rows, err);

    for (; status == NM_OK && nm_shared_devices_next(rows, &row); shown_count++) {
        if (shown_count == 0) {
            nm_screen_begin(s, NM_SAY_RANKS_LABEL_DEVICES, NM_LINE_HEAD, NM_RANK_PEAK, "device_peak");
            add_cell(s, "", WHO_CELLS, false);
            add_title(s, NM_SAY_RANKS_PEAK, PEAK_CELLS);
            add_title(s, NM_SAY_RANKS_CAPACITY, FIGURE_CELLS);
            add_title(s, NM_SAY_RANKS_HOLDERS, FIGURE_CELLS);
        }
        add_device(s, &row);
    }
    if (row.all_count > shown_count)
        nm_screen_say(s, NM_SAY_RANKS_AND_MORE, NM_WORDS({"n", nm_human_count(number, row.all_count - shown_count)}));
    return nm_question_end(rows, status, err);
}

nm_status nm_screen_rank_table_lines(nm_screen *s, nm_error *err)
{
    nm_status status = nm_screen_read_ranks(s, err);
    char text[WORDS_BYTES];

    if (status != NM_OK || s->ranks->count == 0)
        return status;
    nm_screen_begin(s, s->ranks->rank_count > 0 ? NM_SAY_RANKS_LABEL_TABLE : NM_SAY_RANKS_LABEL_PROCESSES, NM_LINE_HEAD,
                    NM_RANK_PEAK, "z_rank_summary");
    add_cell(s, "", WHO_CELLS, false);
    add_peak_title(s);
    add_title(s, NM_SAY_RANKS_RESERVED, FIGURE_CELLS);
    add_title(s, NM_SAY_RANKS_LEAKS, FIGURE_CELLS);
    nm_screen_add(s, "  ");
    nm_screen_add(s, nm_sentence_put(NM_SAY_RANKS_ENDED, s->language, NULL, text, sizeof text));
    add_row(s, NM_SAY_RANKS_LABEL_WORST, NM_LINE_PLAIN, s->ranks->worst);
    add_row(s, NM_SAY_RANKS_LABEL_MEDIAN, NM_LINE_PLAIN, s->ranks->median);
    if (s->ranks->unknown_count == 0)
        add_row(s, NM_SAY_RANKS_LABEL_FIRST, NM_LINE_BAD, s->ranks->first);
    return add_devices(s, err);
}
