/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the recorder's own table for a version of CPython ("3.11"), as python_layout_probe.c does.
 */
#include <stdio.h>

#include "record/python_layout.h"

#define PRINT(name)              printf(#name " %u\n", (unsigned)layout.name)
#define PRINT_SAME(name, number) printf(#name " %u\n", (unsigned)(number))

int main(int argc, char **argv)
{
    nm_python_layout layout = {0};
    unsigned major = 0, minor = 0;

    if (argc != 2 || sscanf(argv[1], "%u.%u", &major, &minor) != 2)
        return 2;
    nm_python_layout_of(major << 8 | minor, NULL, &layout);
    PRINT(version);
    PRINT(thread_frame);
    PRINT(holder_frame);
    PRINT(frame_previous);
    PRINT(frame_code);
    PRINT(frame_instruction);
    PRINT(frame_owner);
    PRINT(code_first_line);
    PRINT(code_file);
    PRINT(code_function);
    PRINT(code_lines);
    PRINT(code_first_instruction);
    PRINT(code_first_traceable);
    PRINT(string_narrow);
    PRINT(string_wide);
    PRINT_SAME(type, NM_PYTHON_TYPE);
    PRINT_SAME(string_length, NM_PYTHON_STRING_LENGTH);
    PRINT_SAME(string_state, NM_PYTHON_STRING_STATE);
    PRINT_SAME(state_kind, NM_PYTHON_STATE_KIND);
    PRINT_SAME(state_compact, NM_PYTHON_STATE_COMPACT);
    PRINT_SAME(state_ascii, NM_PYTHON_STATE_ASCII);
    PRINT_SAME(bytes_size, NM_PYTHON_BYTES_SIZE);
    PRINT_SAME(bytes_data, NM_PYTHON_BYTES_DATA);
    return 0;
}
