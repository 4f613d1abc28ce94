/* SPDX-License-Identifier: Apache-2.0
 *
 * Opcodes of pickle, without frames of the protocol (a reader does not ask for them) and without a way to name a class.
 */
#include "export/pickle_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define ITEMS_AT_ONCE 1000

static void put(nm_pickle_writer *w, const void *data, size_t len)
{
    fwrite_unlocked(data, 1, len, w->out); /* one thread writes: a lock a byte would be most of the work */
}

static void put_code(nm_pickle_writer *w, uint8_t code)
{
    putc_unlocked(code, w->out);
}

void nm_pickle_begin(nm_pickle_writer *w, FILE *out)
{
    *w = (nm_pickle_writer){.out = out};
    put(w, "\x80\x04", 2);
}

nm_status nm_pickle_end(nm_pickle_writer *w, nm_error *err)
{
    put_code(w, '.');
    return w->status == NM_OK ? NM_OK : nm_fail(err, w->status, NM_NO_OFFSET, "out of memory");
}

void nm_pickle_writer_fini(nm_pickle_writer *w)
{
    nm_strings_free(&w->words);
    free(w->word_memo);
    *w = (nm_pickle_writer){0};
}

/* ---- Containers ---------------------------------------------------------------------------------------------------- */

void nm_pickle_dict(nm_pickle_writer *w)
{
    put(w, "}(", 2);
}

void nm_pickle_dict_end(nm_pickle_writer *w)
{
    put_code(w, 'u');
}

void nm_pickle_list(nm_pickle_writer *w, nm_pickle_list_state *list)
{
    list->item_count = 0;
    put_code(w, ']');
}

void nm_pickle_item(nm_pickle_writer *w, nm_pickle_list_state *list)
{
    if (list->item_count == ITEMS_AT_ONCE)
        nm_pickle_list_end(w, list);
    if (list->item_count++ == 0)
        put_code(w, '(');
}

void nm_pickle_list_end(nm_pickle_writer *w, nm_pickle_list_state *list)
{
    if (list->item_count > 0)
        put_code(w, 'e');
    list->item_count = 0;
}

/* ---- Values -------------------------------------------------------------------------------------------------------- */

void nm_pickle_text(nm_pickle_writer *w, const char *text)
{
    uint8_t length[4];
    size_t len = strlen(text);

    if (len < 256) {
        put_code(w, 0x8c);
        put_code(w, (uint8_t)len);
    } else {
        put_code(w, 'X');
        nm_put_u32(length, (uint32_t)len);
        put(w, length, sizeof length);
    }
    put(w, text, len);
}

/* The number of the word, which is written where it is new. *is_new: it has been. */
static uint32_t find_word(nm_pickle_writer *w, const char *text, bool *is_new)
{
    size_t count = w->words.count;
    uint32_t number = 0;

    *is_new = false;
    if (w->status == NM_OK)
        w->status = nm_strings_intern(&w->words, (nm_bytes){(const uint8_t *)text, strlen(text)}, &number, NULL);
    if (w->status == NM_OK)
        w->status = nm_array_grow(&w->word_memo, &w->word_capacity, (size_t)number + 1, sizeof *w->word_memo, NULL);
    if (w->status != NM_OK)
        return 0;
    *is_new = number > count;
    if (*is_new) {
        nm_pickle_text(w, text);
        w->word_memo[number] = nm_pickle_keep(w);
    }
    return w->word_memo[number];
}

void nm_pickle_word(nm_pickle_writer *w, const char *text)
{
    size_t place = ((uintptr_t)text ^ (uintptr_t)text >> 6) % NM_PICKLE_RECENT;
    bool is_new;

    if (w->recent[place].text == text) {
        nm_pickle_name(w, w->recent[place].number);
        return;
    }
    w->recent[place].number = find_word(w, text, &is_new);
    w->recent[place].text = text;
    if (!is_new)
        nm_pickle_name(w, w->recent[place].number);
}

/* As few bytes as hold the number and its sign. */
static void put_long(nm_pickle_writer *w, uint64_t value, bool is_negative)
{
    uint8_t bytes[9] = {0};
    uint8_t fill = is_negative ? 0xff : 0, len = 8;

    nm_put_u64(bytes, value);
    bytes[8] = fill;
    while (len > 0 && bytes[len] == fill && (bytes[len - 1] & 0x80) == (fill & 0x80))
        len--;
    put_code(w, 0x8a);
    put_code(w, (uint8_t)(len + 1));
    put(w, bytes, (size_t)len + 1);
}

void nm_pickle_int(nm_pickle_writer *w, int64_t value)
{
    uint8_t bytes[4];

    if (value >= 0 && value < 256) {
        put_code(w, 'K');
        put_code(w, (uint8_t)value);
    } else if (value >= 0 && value < 65536) {
        nm_put_u16(bytes, (uint16_t)value);
        put_code(w, 'M');
        put(w, bytes, 2);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        nm_put_u32(bytes, (uint32_t)value);
        put_code(w, 'J');
        put(w, bytes, 4);
    } else {
        put_long(w, (uint64_t)value, value < 0);
    }
}

void nm_pickle_address(nm_pickle_writer *w, uint64_t value)
{
    if (value <= INT64_MAX)
        nm_pickle_int(w, (int64_t)value);
    else
        put_long(w, value, false);
}

void nm_pickle_truth(nm_pickle_writer *w, bool value)
{
    put_code(w, value ? 0x88 : 0x89);
}

void nm_pickle_pair(nm_pickle_writer *w, int64_t first, int64_t second)
{
    nm_pickle_int(w, first);
    nm_pickle_int(w, second);
    put_code(w, 0x86);
}

/* ---- What is named again ------------------------------------------------------------------------------------------- */

uint32_t nm_pickle_keep(nm_pickle_writer *w)
{
    put_code(w, 0x94);
    return w->memo_count++;
}

void nm_pickle_name(nm_pickle_writer *w, uint32_t number)
{
    uint8_t bytes[4];

    if (number < 256) {
        put_code(w, 'h');
        put_code(w, (uint8_t)number);
        return;
    }
    nm_put_u32(bytes, number);
    put_code(w, 'j');
    put(w, bytes, sizeof bytes);
}
