/* SPDX-License-Identifier: Apache-2.0
 *
 * Three digits that carry meaning and a unit, rounded so that a figure never shows as 1000 of the smaller one. Into the
 * caller's room, for screens and logs alone: what a program reads on gets the number itself.
 */
#include "base/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"

const char *nm_human_bytes(char out[NM_HUMAN_BYTES], int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;

    /* 999.5 would be shown as 1000: the next unit says it in fewer digits. */
    while (fabs(value) >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        unit++;
    }
    snprintf(out, NM_HUMAN_BYTES, "%.*f %s", unit == 0 || fabs(value) >= 99.95 ? 0 : 1, value, units[unit]);
    return out;
}

const char *nm_human_count(char out[NM_HUMAN_BYTES], int64_t count)
{
    char digits[NM_HUMAN_BYTES];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRId64, count);
    size_t sign = digits[0] == '-';
    size_t to = 0;

    for (size_t at = 0; at < length; at++) {
        if (at > sign && (length - at) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[at];
    }
    out[to] = 0;
    return out;
}

const char *nm_human_percent(char out[NM_HUMAN_BYTES], double ratio)
{
    double percent = ratio * 100;
    int has_digit = percent < 9.95 || (percent > 90 && percent < 99.95);

    snprintf(out, NM_HUMAN_BYTES, "%.*f %%", has_digit, percent);
    return out;
}

const char *nm_human_time(char out[NM_HUMAN_BYTES], int64_t ns)
{
    double seconds = (double)ns / 1e9;

    if (seconds < 1)
        snprintf(out, NM_HUMAN_BYTES, "%.1f ms", seconds * 1e3);
    else if (seconds < 600)
        snprintf(out, NM_HUMAN_BYTES, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(out, NM_HUMAN_BYTES, "%.1f min", seconds / 60);
    else
        snprintf(out, NM_HUMAN_BYTES, "%.1f h", seconds / 3600);
    return out;
}

const char *nm_human_cost(char out[NM_HUMAN_BYTES], int64_t ns)
{
    if (ns >= 1000000)
        return nm_human_time(out, ns);
    snprintf(out, NM_HUMAN_BYTES, "%.1f us", (double)ns / 1e3);
    return out;
}

/* Characters in the text, but no more than `most`. */
static size_t count_characters(const char *text, size_t len, size_t most)
{
    uint32_t character;
    size_t count = 0;

    for (size_t at = 0; at < len && count < most; count++)
        at += nm_shown_next(text + at, len - at, &character);
    return count;
}

const char *nm_human_text(char *out, size_t size, const char *text, size_t column_count)
{
    size_t len = text == NULL ? 0 : strnlen(text, 4 * column_count + 1); /* a character has at most 4 bytes */
    size_t at = 0, to = 0;
    bool is_long = count_characters(text, len, column_count + 1) > column_count;
    size_t kept = is_long ? column_count - 3 : column_count;

    for (size_t column = 0; at < len && column < kept; column++) {
        uint32_t character;
        size_t bytes = nm_shown_next(text + at, len - at, &character);

        if (to + bytes + 3 >= size)
            break;
        if (nm_shown_is_safe(character))
            memcpy(out + to, text + at, bytes);
        else
            out[to] = '?';
        to += nm_shown_is_safe(character) ? bytes : 1;
        at += bytes;
    }
    if (at < len) {
        memcpy(out + to, "...", 3);
        to += 3;
    }
    out[to] = 0;
    return out;
}
