/* SPDX-License-Identifier: Apache-2.0
 *
 * | 0       0                 | 632268        | python3.1          | 197                   |      npu-smi: MB
 * |    0   N/A  N/A      1234      C   python                               1234MiB |             nvidia-smi
 */
#include "source/log_table.h"

#include <ctype.h>
#include <string.h>

#define WORDS_MAX    12
#define DIGITS_MAX   12
#define MIB          (UINT64_C(1) << 20)
#define USED_MIB_MAX ((int64_t)1 << 24)
#define CARD_MAX     1024

/* A whole number, and nothing else. */
static bool is_number(nm_bytes word, int64_t *out)
{
    *out = 0;
    if (word.len == 0 || word.len > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        if (!isdigit(word.data[i]))
            return false;
        *out = *out * 10 + (word.data[i] - '0');
    }
    return true;
}

/* The words of a line; a bar is one. Gives their number, WORDS_MAX at most. */
static size_t split(nm_bytes line, nm_bytes words[WORDS_MAX])
{
    size_t count = 0;

    for (size_t at = 0; at < line.len && count < WORDS_MAX;) {
        if (isspace(line.data[at])) {
            at++;
            continue;
        }
        size_t begin = at++;
        while (line.data[begin] != '|' && at < line.len && !isspace(line.data[at]) && line.data[at] != '|')
            at++;
        words[count++] = (nm_bytes){line.data + begin, at - begin};
    }
    return count;
}

static bool is_bar(nm_bytes word)
{
    return word.len == 1 && word.data[0] == '|';
}

static bool is_text(nm_bytes word, const char *text)
{
    return word.len == strlen(text) && memcmp(word.data, text, word.len) == 0;
}

static bool finish(int64_t used_mib, nm_log_holder *out)
{
    if (used_mib > USED_MIB_MAX || out->card > CARD_MAX || out->chip > CARD_MAX || out->pid == 0)
        return false;
    out->used_bytes = (uint64_t)used_mib * MIB;
    return true;
}

bool nm_log_holder_read(nm_bytes line, nm_log_holder *out)
{
    nm_bytes words[WORDS_MAX];
    int64_t used_mib;
    size_t begin = 0;

    while (begin < line.len && isspace(line.data[begin]))
        begin++;
    if (begin == line.len || line.data[begin] != '|')
        return false;
    *out = (nm_log_holder){0};
    size_t count = split(line, words);
    if (count >= 9 && is_bar(words[3]) && is_bar(words[5]) && is_bar(words[7]) && is_number(words[1], &out->card) &&
        is_number(words[2], &out->chip) && is_number(words[4], &out->pid) && is_number(words[8], &used_mib)) {
        out->name = words[6];
        return finish(used_mib, out);
    }
    for (size_t type = 3; type < count && type <= 5; type++) { /* without GI and CI before driver 450 */
        nm_bytes used = words[count > 2 ? count - 2 : 0];

        if ((is_text(words[type], "C") || is_text(words[type], "G") || is_text(words[type], "C+G")) &&
            is_bar(words[count - 1]) && type + 2 < count - 1 && used.len > 3 &&
            memcmp(used.data + used.len - 3, "MiB", 3) == 0 &&
            is_number((nm_bytes){used.data, used.len - 3}, &used_mib) && is_number(words[1], &out->card) &&
            is_number(words[type - 1], &out->pid)) {
            out->name = words[type + 1];
            return finish(used_mib, out);
        }
    }
    return false;
}
