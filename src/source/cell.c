/* SPDX-License-Identifier: Apache-2.0
 *
 * Decimal digits never pass through a floating-point number: nanoseconds since 1970 have more than it holds.
 */
#include "source/cell.h"

#include <string.h>

#define DIGITS_MAX   19 /* kept of a number; with a scale up to 2^63 they fit into 128 bits */
#define EXPONENT_MAX 400

typedef struct decimal {
    bool is_negative, has_digit;
    unsigned digit_count;
    unsigned __int128 digits;
    int exponent; /* of ten */
} decimal;

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

nm_bytes nm_cell_text(const nm_cell *cell)
{
    nm_bytes text = cell->kind == NM_CELL_TEXT ? cell->text : (nm_bytes){0};

    while (text.len > 0 && is_blank(text.data[0])) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && is_blank(text.data[text.len - 1]))
        text.len--;
    return text;
}

bool nm_cell_is(const nm_cell *cell, const char *text)
{
    nm_bytes own = nm_cell_text(cell);

    return own.len == strlen(text) && (own.len == 0 || memcmp(own.data, text, own.len) == 0);
}

static size_t read_digits(nm_bytes text, size_t at, bool is_fraction, decimal *out)
{
    for (; at < text.len && text.data[at] >= '0' && text.data[at] <= '9'; at++) {
        out->has_digit = true;
        if (out->digit_count < DIGITS_MAX) {
            out->digits = out->digits * 10 + (text.data[at] - '0');
            out->digit_count += out->digits > 0;
            out->exponent -= is_fraction;
        } else {
            out->exponent += !is_fraction && out->exponent < EXPONENT_MAX;
        }
    }
    return at;
}

static size_t read_exponent(nm_bytes text, size_t at, decimal *out)
{
    int exponent = 0;
    bool is_negative = at < text.len && text.data[at] == '-';

    at += at < text.len && (text.data[at] == '-' || text.data[at] == '+');
    size_t begin = at;
    for (; at < text.len && text.data[at] >= '0' && text.data[at] <= '9'; at++)
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (text.data[at] - '0') : exponent;
    out->exponent += is_negative ? -exponent : exponent;
    return at > begin ? at : SIZE_MAX;
}

/* All of the text is a number. */
static bool read_decimal(nm_bytes text, decimal *out)
{
    size_t at = 0;

    *out = (decimal){0};
    if (text.len > 0 && (text.data[0] == '-' || text.data[0] == '+'))
        out->is_negative = text.data[at++] == '-';
    at = read_digits(text, at, false, out);
    if (at < text.len && text.data[at] == '.')
        at = read_digits(text, at + 1, true, out);
    if (out->has_digit && at < text.len && (text.data[at] == 'e' || text.data[at] == 'E'))
        at = read_exponent(text, at + 1, out);
    return out->has_digit && at == text.len;
}

static bool scale_decimal(const decimal *number, uint64_t scale, int64_t *value)
{
    const unsigned __int128 most = (unsigned __int128)INT64_MAX;
    unsigned __int128 product = number->digits * scale, divisor = 1;
    int exponent = number->exponent;

    for (; exponent < 0 && divisor <= product; exponent++)
        divisor *= 10;
    product = exponent < 0 ? 0 : (product + divisor / 2) / divisor;
    for (; exponent > 0 && product > 0 && product <= most; exponent--)
        product *= 10;
    *value = product > most ? 0 : number->is_negative ? -(int64_t)product : (int64_t)product;
    return product <= most;
}

/* The nearest whole number, a half away from 0. */
static bool nearest(double real, int64_t *value)
{
    bool is_there = real > -0x1p63 && real < 0x1p63; /* not of what is no number */

    *value = is_there ? (int64_t)real : 0;
    if (is_there && real - (double)*value >= 0.5)
        ++*value;
    else if (is_there && (double)*value - real >= 0.5)
        --*value;
    return is_there;
}

bool nm_cell_get(const nm_cell *cell, uint64_t scale, int64_t *value)
{
    decimal number;

    switch (cell->kind) {
    case NM_CELL_INT:
        return !__builtin_mul_overflow(cell->integer, (__int128)scale, value);
    case NM_CELL_REAL:
        return nearest(cell->real * (double)scale, value);
    case NM_CELL_TEXT:
        return read_decimal(nm_cell_text(cell), &number) && scale_decimal(&number, scale, value);
    case NM_CELL_NONE:
    default:
        return false;
    }
}

static int digit_of(uint8_t byte)
{
    return byte >= '0' && byte <= '9'   ? byte - '0'
           : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
           : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                        : 99;
}

bool nm_cell_get_address(const nm_cell *cell, uint64_t *address)
{
    nm_bytes text = nm_cell_text(cell);
    bool is_hex = text.len > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x';
    int base = is_hex ? 16 : 10;

    *address = (uint64_t)cell->integer;
    if (cell->kind != NM_CELL_TEXT)
        return cell->kind == NM_CELL_INT;
    for (size_t i = is_hex ? 2 : 0; i < text.len; i++)
        if (digit_of(text.data[i]) >= base || __builtin_mul_overflow(*address, (unsigned)base, address) ||
            __builtin_add_overflow(*address, (unsigned)digit_of(text.data[i]), address))
            return false;
    return text.len > 0;
}

bool nm_cell_is_rounded(const nm_cell *cell)
{
    nm_bytes text = nm_cell_text(cell);
    decimal number;

    return read_decimal(text, &number) &&
           (memchr(text.data, 'e', text.len) != NULL || memchr(text.data, 'E', text.len) != NULL);
}
