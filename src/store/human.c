/* SPDX-License-Identifier: Apache-2.0 */
#include "store/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static int is_inside_character(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

static size_t count_characters(const char *text)
{
    size_t count = 0;

    for (; *text != 0; text++)
        count += !is_inside_character((unsigned char)*text);
    return count;
}

const char *nm_human_text(char *out, size_t size, const char *text, size_t column_count)
{
    size_t to = 0;
    size_t column = 0;

    if (text == NULL)
        text = "";
    size_t kept = count_characters(text) <= column_count ? column_count : column_count - 3;
    for (; *text != 0 && to + 4 < size; text++) {
        if (!is_inside_character((unsigned char)*text) && column++ == kept)
            break;
        out[to++] = (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text;
    }
    if (*text != 0) {
        memcpy(out + to, "...", 3);
        to += 3;
    }
    out[to] = 0;
    return out;
}
