/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and lines from a code object that nm_python_collect has checked: strings of CPython's compact form to UTF-8, and
 * the three forms that its line tables have had.
 */
#include <string.h>

#include "base/text.h"

#include "record/python_walk.h"

#define NO_LINE_STEP     (-128) /* in 3.10: this range has no line */
#define PLACE_FIRST      0x80   /* set in the first byte of every entry, in no other */
#define PLACE_NO_COLUMNS 13
#define PLACE_LONG       14
#define PLACE_NO_LINE    15

/* ---- Lines --------------------------------------------------------------------------------------------------------- */

static uint32_t line_by_pairs(const uint8_t *table, size_t bytes, uint32_t line, int64_t instruction)
{
    int64_t address = 0;

    for (size_t at = 0; at + 1 < bytes; at += 2) {
        address += table[at];
        if (address > instruction)
            break;
        line += (uint32_t)(int8_t)table[at + 1];
    }
    return line;
}

static uint32_t line_by_ranges(const uint8_t *table, size_t bytes, uint32_t line, int64_t instruction)
{
    int64_t end = 0;

    for (size_t at = 0; at + 1 < bytes; at += 2) {
        int step = (int8_t)table[at + 1];

        end += table[at];
        if (step != NO_LINE_STEP)
            line += (uint32_t)step;
        if (instruction < end)
            return step != NO_LINE_STEP ? line : 0;
    }
    return 0;
}

/* A signed number in groups of six bits, lowest first; bit 6 says that another follows, bit 0 of the whole is the sign. */
static int32_t signed_number(const uint8_t *table, size_t bytes, size_t at)
{
    uint32_t value = 0;

    for (unsigned shift = 0; at < bytes && shift < 30; shift += 6) {
        value |= (uint32_t)(table[at] & 0x3f) << shift;
        if ((table[at++] & 0x40) == 0)
            break;
    }
    return (value & 1) != 0 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

static int32_t line_step(const uint8_t *table, size_t bytes, size_t at)
{
    unsigned code = table[at] >> 3 & 15;

    if (code == PLACE_LONG || code == PLACE_NO_COLUMNS)
        return signed_number(table, bytes, at + 1);
    return code >= 10 && code <= 12 ? (int32_t)code - 10 : 0;
}

static uint32_t line_by_places(const uint8_t *table, size_t bytes, uint32_t line, int64_t instruction)
{
    int64_t end = 0;

    for (size_t at = 0; at < bytes;) {
        unsigned code = table[at] >> 3 & 15;

        end += ((table[at] & 7) + 1) * NM_PYTHON_UNIT_BYTES;
        line += (uint32_t)line_step(table, bytes, at);
        if (instruction < end)
            return code != PLACE_NO_LINE ? line : 0;
        do
            at++;
        while (at < bytes && (table[at] & PLACE_FIRST) == 0);
    }
    return 0;
}

uint32_t nm_python_line(nm_python_lines form, const uint8_t *table, size_t bytes, uint32_t first_line,
                        int64_t instruction_bytes)
{
    if (instruction_bytes < 0)
        return first_line;
    switch (form) {
    case NM_PYTHON_LINES_PAIRS:
        return line_by_pairs(table, bytes, first_line, instruction_bytes);
    case NM_PYTHON_LINES_RANGES:
        return line_by_ranges(table, bytes, first_line, instruction_bytes);
    default:
        return line_by_places(table, bytes, first_line, instruction_bytes);
    }
}

/* ---- Strings ------------------------------------------------------------------------------------------------------- */

static uint32_t character_at(const char *characters, unsigned kind, size_t index)
{
    uint16_t half;
    uint32_t word;

    switch (kind) {
    case 1:
        return (uint8_t)characters[index];
    case 2:
        memcpy(&half, characters + 2 * index, sizeof half);
        return half;
    default:
        memcpy(&word, characters + 4 * index, sizeof word);
        return word;
    }
}

static size_t encoded_bytes(uint32_t character)
{
    return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
}

/* A surrogate (a byte of a file name that is no UTF-8) is encoded like any other character. */
static size_t encode(uint32_t character, char *out)
{
    static const uint8_t heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t bytes = encoded_bytes(character);

    if (bytes == 1) {
        out[0] = (char)character;
        return 1;
    }
    for (size_t i = bytes - 1; i > 0; i--, character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3f));
    out[0] = (char)(heads[bytes] | character);
    return bytes;
}

/* The first character of as long an end as takes `limit` bytes. */
static size_t first_that_fits(const char *characters, unsigned kind, size_t length, size_t limit)
{
    size_t first, bytes = 0;

    for (first = length; first > 0; first--) {
        bytes += encoded_bytes(character_at(characters, kind, first - 1));
        if (bytes > limit)
            break;
    }
    return first;
}

/* The string, or its end behind the mark if it is too long: of a path and a qualified name that tells more. */
static size_t copy_string(const nm_python_model *model, uintptr_t string, char *out, size_t limit)
{
    uint64_t length;
    uint32_t state;
    size_t first, done = 0;

    memcpy(&length, (const char *)string + NM_PYTHON_STRING_LENGTH, sizeof length);
    memcpy(&state, (const char *)string + NM_PYTHON_STRING_STATE, sizeof state);
    bool is_ascii = (state & NM_PYTHON_STATE_ASCII) != 0;
    unsigned kind = (state & NM_PYTHON_STATE_KIND) >> 2;
    const char *characters =
        (const char *)string + (is_ascii ? model->layout.string_narrow : model->layout.string_wide);

    first = first_that_fits(characters, kind, length, limit);
    if (first > 0) {
        first = first_that_fits(characters, kind, length, limit - NM_TEXT_CUT_MARK_BYTES);
        memcpy(out, NM_TEXT_CUT_MARK, NM_TEXT_CUT_MARK_BYTES);
        done = NM_TEXT_CUT_MARK_BYTES;
    }
    for (size_t i = first; i < length; i++)
        done += encode(character_at(characters, kind, i), out + done);
    return done;
}

void nm_python_describe(const nm_python_model *model, const nm_python_place *place, nm_python_text *out)
{
    const nm_python_layout *layout = &model->layout;
    const char *code = (const char *)place->code;
    uintptr_t file, function, lines;
    uint64_t table_bytes;
    uint32_t first_line;

    memcpy(&file, code + layout->code_file, sizeof file);
    memcpy(&function, code + layout->code_function, sizeof function);
    memcpy(&lines, code + layout->code_lines, sizeof lines);
    memcpy(&first_line, code + layout->code_first_line, sizeof first_line);
    memcpy(&table_bytes, (const char *)lines + NM_PYTHON_BYTES_SIZE, sizeof table_bytes);
    out->line = nm_python_line(layout->lines, (const uint8_t *)lines + NM_PYTHON_BYTES_DATA, table_bytes, first_line,
                               place->instruction_bytes);
    out->function_bytes = copy_string(model, function, out->text, NM_PYTHON_FUNCTION_BYTES_MAX);
    out->file_bytes = copy_string(model, file, out->text + out->function_bytes, NM_PYTHON_FILE_BYTES_MAX);
}
