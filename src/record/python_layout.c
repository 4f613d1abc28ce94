/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables, and what 3.13 says of itself; see python_layout.h.
 */
#include "record/python_layout.h"

#include <stddef.h>
#include <string.h>

#define DISTANCE_MAX 4096 /* of anything in one of these structures */

static const nm_python_layout layouts[] = {
    {
        .version = 0x0308,
        .lines = NM_PYTHON_LINES_PAIRS,
        .instruction_kind = NM_PYTHON_INDEX_BYTES,
        .thread_frame = 24,
        .holder_frame = NM_PYTHON_NO_HOLDER,
        .frame_previous = 24,
        .frame_code = 32,
        .frame_instruction = 104,
        .code_first_line = 40,
        .code_file = 104,
        .code_function = 112,
        .code_lines = 120,
        .string_narrow = 48,
        .string_wide = 72,
    },
    {
        .version = 0x0309,
        .lines = NM_PYTHON_LINES_PAIRS,
        .instruction_kind = NM_PYTHON_INDEX_BYTES,
        .thread_frame = 24,
        .holder_frame = NM_PYTHON_NO_HOLDER,
        .frame_previous = 24,
        .frame_code = 32,
        .frame_instruction = 104,
        .code_first_line = 40,
        .code_file = 104,
        .code_function = 112,
        .code_lines = 120,
        .string_narrow = 48,
        .string_wide = 72,
    },
    {
        .version = 0x030a,
        .lines = NM_PYTHON_LINES_RANGES,
        .instruction_kind = NM_PYTHON_INDEX_UNITS,
        .thread_frame = 24,
        .holder_frame = NM_PYTHON_NO_HOLDER,
        .frame_previous = 24,
        .frame_code = 32,
        .frame_instruction = 96,
        .code_first_line = 40,
        .code_file = 104,
        .code_function = 112,
        .code_lines = 120,
        .string_narrow = 48,
        .string_wide = 72,
    },
    {
        .version = 0x030b,
        .lines = NM_PYTHON_LINES_PLACES,
        .instruction_kind = NM_PYTHON_ADDRESS,
        .thread_frame = 56,
        .holder_frame = 8,
        .frame_previous = 48,
        .frame_code = 32,
        .frame_instruction = 56,
        .frame_owner = 69,
        .code_first_line = 72,
        .code_file = 112,
        .code_function = 128,
        .code_lines = 136,
        .code_first_instruction = 184,
        .code_first_traceable = 168,
        .string_narrow = 48,
        .string_wide = 72,
    },
    {
        .version = 0x030c,
        .lines = NM_PYTHON_LINES_PLACES,
        .instruction_kind = NM_PYTHON_ADDRESS,
        .thread_frame = 56,
        .holder_frame = 0,
        .frame_previous = 8,
        .frame_code = 0,
        .frame_instruction = 56,
        .frame_owner = 70,
        .code_first_line = 68,
        .code_file = 112,
        .code_function = 128,
        .code_lines = 136,
        .code_first_instruction = 192,
        .code_first_traceable = 176,
        .string_narrow = 40,
        .string_wide = 56,
    },
    {
        .version = 0x030d,
        .lines = NM_PYTHON_LINES_PLACES,
        .instruction_kind = NM_PYTHON_ADDRESS,
        .thread_frame = 72,
        .holder_frame = NM_PYTHON_NO_HOLDER,
        .frame_previous = 8,
        .frame_code = 0,
        .frame_instruction = 56,
        .frame_owner = 70,
        .code_first_line = 68,
        .code_file = 112,
        .code_function = 128,
        .code_lines = 136,
        .code_first_instruction = 200,
        .code_first_traceable = 184,
        .string_narrow = 40,
        .string_wide = 56,
    },
};

/* What 3.13 publishes at the start of _PyRuntime, as far as it is used here: 64-bit words behind the cookie, in groups that
 * begin with the size of the structure they describe. */
enum {
    WORD_COOKIE = 0,
    WORD_VERSION = 1,
    WORD_FREE_THREADED = 2,
    GROUP_RUNTIME = 3,
    GROUP_INTERPRETER = GROUP_RUNTIME + 3,
    GROUP_THREAD = GROUP_INTERPRETER + 13,
    WORD_THREAD_FRAME = GROUP_THREAD + 4,
    GROUP_FRAME = GROUP_THREAD + 9,
    WORD_FRAME_PREVIOUS = GROUP_FRAME + 1,
    WORD_FRAME_CODE,
    WORD_FRAME_INSTRUCTION,
    WORD_FRAME_LOCALS,
    WORD_FRAME_OWNER,
    GROUP_CODE = GROUP_FRAME + 6,
    WORD_CODE_FILE = GROUP_CODE + 1,
    WORD_CODE_NAME,
    WORD_CODE_FUNCTION,
    WORD_CODE_LINES,
    WORD_CODE_FIRST_LINE,
    WORD_CODE_FIRST_INSTRUCTION = GROUP_CODE + 9,
    WORD_STRING_NARROW = GROUP_CODE + 10 + 2 + 4 + 3 + 3 + 3 + 2 + 3 + 3 + 3,
};

static bool read_published(const uint64_t *words, nm_python_layout *out)
{
    const struct {
        uint16_t *distance;
        unsigned word;
    } places[] = {
        {&out->thread_frame, WORD_THREAD_FRAME},       {&out->frame_previous, WORD_FRAME_PREVIOUS},
        {&out->frame_code, WORD_FRAME_CODE},           {&out->frame_instruction, WORD_FRAME_INSTRUCTION},
        {&out->frame_owner, WORD_FRAME_OWNER},         {&out->code_file, WORD_CODE_FILE},
        {&out->code_function, WORD_CODE_FUNCTION},     {&out->code_lines, WORD_CODE_LINES},
        {&out->code_first_line, WORD_CODE_FIRST_LINE}, {&out->code_first_instruction, WORD_CODE_FIRST_INSTRUCTION},
        {&out->string_narrow, WORD_STRING_NARROW},
    };

    if (memcmp(words, "xdebugpy", 8) != 0 || words[WORD_VERSION] >> 16 != out->version ||
        words[WORD_FREE_THREADED] != 0)
        return false;
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        if (words[places[i].word] >= DISTANCE_MAX)
            return false;
        *places[i].distance = (uint16_t)words[places[i].word];
    }
    return true;
}

bool nm_python_layout_of(unsigned version, const void *runtime, nm_python_layout *out)
{
    for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i].version != version)
            continue;
        *out = layouts[i];
        return version < 0x030d || (runtime != NULL && read_published(runtime, out));
    }
    return false;
}
