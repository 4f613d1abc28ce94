/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths and numbers, built and read a character at a time in the caller's room. What does not fit is refused or cut
 * where a character ends, and no locale is asked. Nothing here takes memory or sets errno.
 */
#include "record/text.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 20 /* of 64 bits */

bool nm_text_join(char *out, size_t out_bytes, const char *folder, const char *name)
{
    size_t folder_bytes = strlen(folder), name_bytes = strlen(name);

    if (folder_bytes + 1 + name_bytes + 1 > out_bytes)
        return false;
    memcpy(out, folder, folder_bytes);
    out[folder_bytes] = '/';
    memcpy(out + folder_bytes + 1, name, name_bytes + 1);
    return true;
}

bool nm_text_path(char *out, size_t out_bytes, const char *folder, const char *prefix, uint64_t number)
{
    char name[16 + DIGITS_MAX + 1];
    size_t prefix_bytes = strlen(prefix), digit_count = 0;
    char digits[DIGITS_MAX];

    if (prefix_bytes > 16)
        return false;
    do {
        digits[digit_count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    memcpy(name, prefix, prefix_bytes);
    for (size_t i = 0; i < digit_count; i++)
        name[prefix_bytes + i] = digits[digit_count - 1 - i];
    name[prefix_bytes + digit_count] = 0;
    return nm_text_join(out, out_bytes, folder, name);
}

int64_t nm_text_number(const char *text, const char **end)
{
    bool is_negative = *text == '-';
    const char *at = text + is_negative;
    int64_t number = 0;
    size_t digit_count = 0;

    for (; *at >= '0' && *at <= '9' && digit_count < DIGITS_MAX - 2; at++, digit_count++)
        number = number * 10 + (*at - '0');
    if (end != NULL)
        *end = at;
    if (digit_count == 0)
        return INT64_MIN;
    return is_negative ? -number : number;
}

static int hexadecimal_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

uint64_t nm_text_hexadecimal(const char *text, const char **end)
{
    uint64_t number = 0;
    int digit;

    for (; (digit = hexadecimal_digit(*text)) >= 0; text++)
        number = number << 4 | (uint64_t)digit;
    *end = text;
    return number;
}

int64_t nm_text_environment_number(const char *const *names, size_t name_count)
{
    for (size_t i = 0; i < name_count; i++) {
        const char *text = secure_getenv(names[i]);
        int64_t number = text != NULL ? nm_text_number(text, NULL) : INT64_MIN;

        if (number != INT64_MIN)
            return number;
    }
    return INT64_MIN;
}

int64_t nm_text_list_number(const char *list, int64_t index)
{
    while (list != NULL && *list != 0) {
        const char *end;
        int64_t number = nm_text_number(list, &end);

        if (index == 0)
            return number;
        list = strchr(end, ',');
        list = list != NULL ? list + 1 : NULL;
        index--;
    }
    return INT64_MIN;
}
