/* SPDX-License-Identifier: Apache-2.0
 *
 * A number is cut off by hand, so that what strtold would take besides (signs, blanks, hexadecimal, nan) is no number here;
 * what is left is its unit. A long double holds every whole number of 64 bits on the machines that this is for, so a large
 * count of bytes is not rounded.
 */
#include "base/quantity.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NUMBER_BYTES 64
#define SHOWN_BYTES  24 /* of a number, in what is said */

static size_t count_digits(const char *text)
{
    size_t count = 0;

    while (isdigit((unsigned char)text[count]))
        count++;
    return count;
}

/* How many bytes the number at the beginning of the text has; 0: there is none. */
static size_t number_length(const char *text)
{
    size_t whole = count_digits(text);
    size_t part = text[whole] == '.' ? count_digits(text + whole + 1) : 0;
    size_t length = whole + (text[whole] == '.' ? 1 + part : 0);

    if (whole + part == 0)
        return 0;
    if (text[length] == 'e' || text[length] == 'E') {
        size_t sign = text[length + 1] == '+' || text[length + 1] == '-';
        size_t digits = count_digits(text + length + 1 + sign);

        length += digits == 0 ? 0 : 1 + sign + digits;
    }
    return length;
}

/* Cuts the text into a number and what stands behind it and its blanks. */
static bool cut_number(const char *text, long double *number, const char **unit)
{
    char copy[NUMBER_BYTES];
    size_t length = number_length(text);

    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    *number = strtold(copy, NULL);
    *unit = text + length + strspn(text + length, " ");
    return **unit != 0 || text[length] == 0; /* blanks stand before a unit alone */
}

/* ---- Sizes --------------------------------------------------------------------------------------------------------- */

static bool find_size_unit(const char *unit, long double *factor)
{
    static const char letters[] = "kmgtp";
    static const char *const rests[] = {"", "B", "iB", "i"};
    const char *letter = unit[0] == 0 ? NULL : strchr(letters, tolower((unsigned char)unit[0]));

    *factor = 1;
    if (unit[0] == 0 || strcasecmp(unit, "B") == 0)
        return true;
    if (letter == NULL)
        return false;
    for (const char *at = letters; at <= letter; at++)
        *factor *= 1024;
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
        if (strcasecmp(unit + 1, rests[i]) == 0)
            return true;
    return false;
}

static nm_status read_size(const char *text, bool may_be_bare, uint64_t *bytes, nm_error *err)
{
    long double number, factor;
    const char *unit;

    if (!cut_number(text, &number, &unit) || !find_size_unit(unit, &factor))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a size: 60GiB, 512M or 4096B");
    if (!(number * factor <= (long double)NM_QUANTITY_BYTES_MAX))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a size of 4096 PiB at the most");
    if (*unit == 0 && !may_be_bare && number != 0 && number < (long double)NM_QUANTITY_BARE_MIN)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a size with its unit: %.*sGiB, or %.*sB for bytes",
                       SHOWN_BYTES, text, SHOWN_BYTES, text);
    *bytes = (uint64_t)(number * factor + 0.5L);
    return NM_OK;
}

nm_status nm_quantity_size(const char *text, uint64_t *bytes, nm_error *err)
{
    return read_size(text, false, bytes, err);
}

nm_status nm_quantity_bare_size(const char *text, uint64_t *bytes, nm_error *err)
{
    return read_size(text, true, bytes, err);
}

/* ---- Shares -------------------------------------------------------------------------------------------------------- */

nm_status nm_quantity_ratio(const char *text, double most, double *ratio, nm_error *err)
{
    long double number;
    const char *unit;
    bool is_number = cut_number(text, &number, &unit);
    bool is_percent = is_number && strcmp(unit, "%") == 0;

    if (!is_number || (*unit != 0 && !is_percent))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a share: 0.15 or 15%%");
    *ratio = (double)(is_percent ? number / 100 : number);
    if (*ratio <= most)
        return NM_OK;
    return is_percent || number > 100
               ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a share of %.4g%% at the most", 100 * most)
               : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a share: 0.15 or 15%%; %.*s of a hundred is %.*s%%",
                         SHOWN_BYTES, text, SHOWN_BYTES, text);
}

/* ---- Times --------------------------------------------------------------------------------------------------------- */

static bool find_time_unit(const char *unit, long double *factor)
{
    static const struct {
        const char *name;
        long double ns;
    } units[] = {{"ns", 1},    {"us", 1e3L},   {"ms", 1e6L},   {"s", 1e9L},
                 {"m", 60e9L}, {"min", 60e9L}, {"h", 3600e9L}, {"d", 86400e9L}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0) {
            *factor = units[i].ns;
            return true;
        }
    return false;
}

nm_status nm_quantity_time(const char *text, uint64_t bare_ns, uint64_t *ns, nm_error *err)
{
    long double number, factor = (long double)bare_ns;
    const char *unit;

    if (!cut_number(text, &number, &unit) || (*unit != 0 && !find_time_unit(unit, &factor)))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a time: 10s, 5m or 100ms");
    if (*unit == 0 && bare_ns == 0 && number != 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a time with its unit: %.*ss or %.*sms", SHOWN_BYTES,
                       text, SHOWN_BYTES, text);
    if (!(number * factor <= (long double)NM_QUANTITY_NS_MAX))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a time of 1000000000s at the most");
    *ns = (uint64_t)(number * factor + 0.5L);
    return NM_OK;
}
