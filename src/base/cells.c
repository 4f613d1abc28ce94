/* SPDX-License-Identifier: Apache-2.0
 *
 * The wide ranges are those of Unicode's East_Asian_Width (W and F), taken together where nothing assigned lies between
 * them.
 */
#include "base/cells.h"

#include <stdbool.h>
#include <string.h>

#include "base/shown.h"

#define DOTS 3

typedef struct range {
    uint32_t first, last;
} range;

static bool is_in(const range *ranges, size_t count, uint32_t character)
{
    for (size_t i = 0; i < count; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

unsigned nm_cells_of(uint32_t character)
{
    static const range marks[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x64b, 0x65f},
                                  {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0x302a, 0x302d},
                                  {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
    static const range wide[] = {{0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x2e80, 0x303e},
                                 {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
                                 {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},
                                 {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f300, 0x1f64f},
                                 {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

    if (character < 0x300)
        return 1;
    if (is_in(marks, sizeof marks / sizeof *marks, character))
        return 0;
    return is_in(wide, sizeof wide / sizeof *wide, character) ? 2 : 1;
}

static unsigned next_cells(const char *text, size_t len, size_t *bytes)
{
    uint32_t character;

    *bytes = nm_shown_next(text, len, &character);
    return nm_shown_is_safe(character) ? nm_cells_of(character) : 1;
}

size_t nm_cells_fit(const char *text, size_t len, size_t cells)
{
    size_t at = 0, bytes;

    while (at < len) {
        unsigned wide = next_cells(text + at, len - at, &bytes);

        if (wide > cells)
            break;
        cells -= wide;
        at += bytes;
    }
    return at;
}

const char *nm_cells_text(char *out, size_t size, const char *text, size_t len, size_t cells)
{
    size_t fit = nm_cells_fit(text, len, cells), dots = fit < len && cells >= DOTS ? DOTS : 0;
    bool is_cut;

    if (dots > 0)
        fit = nm_cells_fit(text, len, cells - dots);
    is_cut = fit + dots >= size;
    while (is_cut && fit > 0 && (fit + dots >= size || ((unsigned char)text[fit] & 0xc0) == 0x80))
        fit--;
    memcpy(out, text, fit);
    fit = nm_shown_make(out, fit, "");
    memcpy(out + fit, "...", dots);
    out[fit + dots] = 0;
    return out;
}
