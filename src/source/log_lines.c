/* SPDX-License-Identifier: Apache-2.0
 *
 * A line is made byte by byte into a buffer of fixed size. Of one that begins as JSON does, escapes are undone, so that a message of
 * several lines that was written as one text becomes lines again.
 */
#include "source/log_lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"

#define READ_BYTES   ((size_t)64 << 10)
#define FRONT_BYTES  200 /* of a line, in which it says whose it is */
#define NUMBER_MAX   ((int64_t)1 << 40)
#define NS_PER_S     INT64_C(1000000000)
#define UNKNOWN_YEAR 2000 /* a leap year: every day is there */

typedef enum state { PLAIN, ESCAPE, SEQUENCE, TITLE, TITLE_ESCAPE, BACKSLASH, UNICODE } state;

struct nm_log_lines {
    nm_input *input; /* borrowed */
    uint8_t read[READ_BYTES];
    size_t read_len, read_at;
    uint8_t line[NM_LOG_LINE_BYTES_MAX];
    size_t len;
    state state;
    size_t digit_count; /* UNICODE */
    uint32_t character;
    bool is_json, is_begun,
        has_more;     /* of the line: JSON; a byte of it was there; what is in `line` was delivered, and goes on */
    bool is_last_end; /* the file's last byte so far ended a line */
    bool is_at_end;
    uint64_t count;
    nm_checksum_run sum;
    uint64_t bytes;
};

nm_status nm_log_lines_new(nm_input *input, nm_log_lines **out, nm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    (*out)->input = input;
    (*out)->is_last_end = true;
    nm_checksum_begin(&(*out)->sum);
    return NM_OK;
}

void nm_log_lines_free(nm_log_lines *lines)
{
    free(lines);
}

uint64_t nm_log_lines_count(const nm_log_lines *lines)
{
    return lines->count + !lines->is_last_end;
}

void nm_log_lines_sum(const nm_log_lines *lines, nm_checksum_run *sum, uint64_t *bytes)
{
    *sum = lines->sum;
    *bytes = lines->bytes;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static void put(nm_log_lines *lines, uint8_t byte)
{
    lines->line[lines->len++] = byte; /* the caller stops where it is full */
}

/* A byte of JSON behind a backslash. True: the line ends. */
static bool take_escaped(nm_log_lines *lines, uint8_t byte)
{
    lines->state = PLAIN;
    if (byte == 'n' || byte == 'r')
        return true;
    if (byte == 'u') {
        lines->state = UNICODE;
        lines->digit_count = 0;
        lines->character = 0;
    } else {
        put(lines, byte == 't' ? ' ' : byte);
    }
    return false;
}

/* \u001b begins a colour; what is no ASCII matters to nothing here. */
static void take_unicode(nm_log_lines *lines, uint8_t byte)
{
    uint32_t digit = isdigit(byte) ? (uint32_t)(byte - '0') : (uint32_t)(tolower(byte) - 'a') + 10;

    lines->character = isxdigit(byte) ? lines->character * 16 + digit : '?';
    if (++lines->digit_count < 4 && isxdigit(byte))
        return;
    lines->state = lines->character == 0x1b ? ESCAPE : PLAIN;
    if (lines->character != 0x1b && lines->character != 0)
        put(lines, lines->character < 0x80 && lines->character >= ' ' ? (uint8_t)lines->character : '?');
}

/* Within what a terminal takes for itself. */
static void take_control(nm_log_lines *lines, uint8_t byte)
{
    switch (lines->state) {
    case ESCAPE:
        lines->state = byte == '[' ? SEQUENCE : byte == ']' ? TITLE : PLAIN;
        break;
    case SEQUENCE:
        if (byte >= 0x40 && byte <= 0x7e)
            lines->state = PLAIN;
        break;
    case TITLE:
        lines->state = byte == 7 ? PLAIN : byte == 0x1b ? TITLE_ESCAPE : TITLE;
        break;
    default:
        lines->state = PLAIN;
        break;
    }
}

/* True: the line ends. */
static bool take_byte(nm_log_lines *lines, uint8_t byte)
{
    if (byte == '\n' || byte == '\r') {
        lines->count += byte == '\n';
        lines->state = PLAIN;
        return true;
    }
    if (lines->state == BACKSLASH)
        return take_escaped(lines, byte);
    if (lines->state == UNICODE) {
        take_unicode(lines, byte);
    } else if (lines->state != PLAIN) {
        take_control(lines, byte);
    } else if (byte == 0x1b) {
        lines->state = ESCAPE;
    } else if (byte == '\\' && lines->is_json) {
        lines->state = BACKSLASH;
    } else if (byte != 0 && byte != '\b') {
        if (!lines->is_begun)
            lines->is_json = byte == '{';
        lines->is_begun = true;
        put(lines, byte);
    }
    return false;
}

static nm_status fill(nm_log_lines *lines, nm_error *err)
{
    nm_status status = nm_input_read(lines->input, lines->read, READ_BYTES, &lines->read_len, err);

    lines->read_at = 0;
    lines->is_at_end = status == NM_OK && lines->read_len == 0;
    if (status == NM_OK && lines->read_len > 0)
        lines->is_last_end = lines->read[lines->read_len - 1] == '\n';
    if (status == NM_OK)
        nm_checksum_add(&lines->sum, lines->read, lines->read_len);
    lines->bytes += lines->read_len;
    return status;
}

nm_status nm_log_lines_next(nm_log_lines *lines, nm_bytes *line, bool *is_cut, nm_error *err)
{
    nm_status status = NM_OK;
    bool has_end = false;

    if (lines->has_more)
        memmove(lines->line, lines->line + lines->len - NM_LOG_OVERLAP_BYTES, NM_LOG_OVERLAP_BYTES);
    lines->len = lines->has_more ? NM_LOG_OVERLAP_BYTES : 0;
    lines->has_more = false;
    while (!has_end && lines->len < NM_LOG_LINE_BYTES_MAX && status == NM_OK) {
        if (lines->read_at == lines->read_len && !lines->is_at_end)
            status = fill(lines, err);
        if (status != NM_OK || lines->is_at_end)
            break;
        uint8_t byte = lines->read[lines->read_at++];
        has_end = take_byte(lines, byte);
        if (has_end && (byte == '\n' || byte == '\r'))
            lines->is_begun = lines->is_json = false;
    }
    if (status != NM_OK)
        return status;
    if (!has_end && lines->len == 0 && lines->is_at_end)
        return NM_END;
    lines->has_more = !has_end && lines->len == NM_LOG_LINE_BYTES_MAX;
    *is_cut = lines->has_more;
    *line = (nm_bytes){lines->line, lines->len};
    return NM_OK;
}

/* ---- Whose ------------------------------------------------------------------------------------------------------- */

/* Digits at `at`, and where they end. False: there are none, or too many. */
static bool read_number(nm_bytes text, size_t *at, int64_t *out)
{
    int64_t number = 0;
    size_t begin = *at;

    for (; *at < text.len && isdigit(text.data[*at]) && number < NUMBER_MAX; ++*at)
        number = number * 10 + (text.data[*at] - '0');
    if (*at == begin || number >= NUMBER_MAX)
        return false;
    *out = number;
    return true;
}

static size_t find(nm_bytes text, const char *words)
{
    const uint8_t *found = text.len == 0 ? NULL : memmem(text.data, text.len, words, strlen(words));

    return found == NULL ? text.len : (size_t)(found - text.data);
}

static void number_behind(nm_bytes text, const char *words, int64_t *out)
{
    size_t at = find(text, words);

    if (at == text.len || *out != NM_UNKNOWN_NUMBER)
        return;
    at += strlen(words);
    while (at < text.len && text.data[at] == ' ')
        at++;
    read_number(text, &at, out);
}

/* "RUNTIME(210907,python)", "PRE_ACT(54175,fffd,python)": of CANN and MindSpore. */
static void find_component(nm_bytes front, nm_log_origin *out)
{
    for (size_t i = 1; i < front.len && out->pid == NM_UNKNOWN_NUMBER; i++) {
        size_t at = i + 1;
        int64_t pid;

        if (front.data[i] == '(' && isupper(front.data[i - 1]) && read_number(front, &at, &pid) && at < front.len &&
            front.data[at] == ',')
            out->pid = pid;
    }
}

static void find_host(nm_bytes front, nm_log_origin *out)
{
    size_t begin = find(front, ", ip="), end;

    if (begin == front.len)
        return;
    begin += strlen(", ip=");
    for (end = begin; end < front.len && front.data[end] != ')' && front.data[end] != ' ' && front.data[end] != ',';)
        end++;
    out->host = (nm_bytes){front.data + begin, end - begin};
}

void nm_log_origin_read(nm_bytes line, nm_log_origin *out)
{
    static const struct {
        const char *words;
        size_t field;
    } words[] = {
        {"[rank", offsetof(nm_log_origin, rank)},
        {"[Rank ", offsetof(nm_log_origin, rank)},
        {"RankID:", offsetof(nm_log_origin, rank)},
        {"[default", offsetof(nm_log_origin, local_rank)},
        {"[trainer", offsetof(nm_log_origin, local_rank)},
        {"(Worker_TP", offsetof(nm_log_origin, local_rank)},
        {"pid=", offsetof(nm_log_origin, pid)},
        {"PID:", offsetof(nm_log_origin, pid)},
    };
    nm_bytes front = {line.data, line.len < FRONT_BYTES ? line.len : FRONT_BYTES};

    *out = (nm_log_origin){.rank = NM_UNKNOWN_NUMBER, .local_rank = NM_UNKNOWN_NUMBER, .pid = NM_UNKNOWN_NUMBER};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        number_behind(front, words[i].words, (int64_t *)((char *)out + words[i].field));
    find_component(front, out);
    find_host(front, out);
    out->is_parent = find(front, "(EngineCore") < front.len || find(front, "(APIServer") < front.len;
}

/* ---- When -------------------------------------------------------------------------------------------------------- */

static bool is_two(const uint8_t *at)
{
    return isdigit(at[0]) && isdigit(at[1]);
}

static int two(const uint8_t *at)
{
    return (at[0] - '0') * 10 + at[1] - '0';
}

size_t nm_log_clock_find(nm_bytes line)
{
    size_t len = line.len < NM_LOG_TIME_BYTES ? line.len : NM_LOG_TIME_BYTES;

    for (size_t i = 2; i + 6 <= len; i++)
        if (line.data[i] == ':' && line.data[i + 3] == ':' && is_two(line.data + i - 2) && is_two(line.data + i + 1) &&
            is_two(line.data + i + 4) && (i == 2 || !isdigit(line.data[i - 3])) && two(line.data + i - 2) < 24 &&
            two(line.data + i + 1) < 60)
            return i - 2;
    return line.len;
}

/* Days since 1970 of a day of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month <= 2 ? year - 1 : year, month_of = (month + 9) % 12;
    int64_t era_year = shifted % 400, day_of = (153 * month_of + 2) / 5 + day - 1;

    return shifted / 400 * 146097 + era_year * 365 + era_year / 4 - era_year / 100 + day_of - 719468;
}

static int month_named(const uint8_t *at)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (int i = 0; i < 12; i++)
        if (memcmp(at, months + 3 * (size_t)i, 3) == 0)
            return i + 1;
    return 0;
}

/* "2026-04-09", "2026/04/09", "04-09", "0409", "Apr  9" in front of a clock that begins at `at`. */
static bool read_day(const uint8_t *text, size_t at, int *year, int *month, int *day)
{
    const uint8_t *end = text + at - 1; /* behind what stands between */

    *year = 0;
    *month = *day = 0;
    if (at >= 6 && is_two(end - 2) && (end[-3] == '-' || end[-3] == '/') && is_two(end - 5)) {
        *month = two(end - 5);
        *day = two(end - 2);
        if (at >= 11 && end[-6] == end[-3] && is_two(end - 8) && is_two(end - 10))
            *year = two(end - 10) * 100 + two(end - 8);
    } else if (at >= 6 && is_two(end - 2) && is_two(end - 4) && isupper(end[-5])) {
        *month = two(end - 4);
        *day = two(end - 2);
    } else if (at >= 7 && isdigit(end[-1]) && (isdigit(end[-2]) || end[-2] == ' ')) {
        *month = month_named(end - 6);
        *day = end[-1] - '0' + (end[-2] == ' ' ? 0 : (end[-2] - '0') * 10);
    }
    return *month >= 1 && *month <= 12 && *day >= 1 && *day <= 31;
}

/* ".384.694", ",123": at most nine digits count. */
static int64_t read_fraction(nm_bytes line, size_t *at)
{
    int64_t unit = NS_PER_S / 10, ns = 0;

    while (*at + 1 < line.len && (line.data[*at] == '.' || line.data[*at] == ',') && isdigit(line.data[*at + 1]))
        for (++*at; *at < line.len && isdigit(line.data[*at]); ++*at) {
            ns += unit * (line.data[*at] - '0');
            unit /= 10;
        }
    return ns;
}

/* "+08:00", "+0800": east of Greenwich. */
static int64_t read_zone(nm_bytes line, size_t at)
{
    if (at + 3 > line.len || (line.data[at] != '+' && line.data[at] != '-') || !is_two(line.data + at + 1))
        return 0;
    int64_t seconds = two(line.data + at + 1) * 3600;
    size_t minutes = at + 3 + (at + 3 < line.len && line.data[at + 3] == ':');
    if (minutes + 2 <= line.len && is_two(line.data + minutes))
        seconds += two(line.data + minutes) * 60;
    return line.data[at] == '+' ? seconds : -seconds;
}

nm_log_time nm_log_time_read(nm_bytes line)
{
    size_t at = nm_log_clock_find(line), behind = at + 8;
    int year = 0, month = 1, day = 1;

    if (at == line.len)
        return (nm_log_time){.ns = NM_NO_TIME};
    int64_t seconds = two(line.data + at) * 3600 + two(line.data + at + 3) * 60 + two(line.data + at + 6);
    bool has_day = at > 0 && read_day(line.data, at, &year, &month, &day);
    int64_t fraction_ns = read_fraction(line, &behind);
    if (!has_day)
        month = day = 1;
    bool has_year = has_day && year >= 1970 && year < 2200;
    int64_t days = days_of(has_year ? year : UNKNOWN_YEAR, month, day);
    return (nm_log_time){.ns = (days * 86400 + seconds - read_zone(line, behind)) * NS_PER_S + fraction_ns,
                         .has_year = has_year};
}
