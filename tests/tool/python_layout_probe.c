/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled with the headers of one CPython by python_layout.sh: prints where that version keeps things, in the words of
 * src/record/python_layout.h.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#endif

#define PRINT(name, value) printf(#name " %u\n", (unsigned)(value))

static void print_frames(void)
{
#if PY_VERSION_HEX < 0x030b0000
    PRINT(thread_frame, offsetof(PyThreadState, frame));
    PRINT(holder_frame, 65535);
    PRINT(frame_previous, offsetof(PyFrameObject, f_back));
    PRINT(frame_code, offsetof(PyFrameObject, f_code));
    PRINT(frame_instruction, offsetof(PyFrameObject, f_lasti));
    PRINT(frame_owner, 0);
#else
#if PY_VERSION_HEX < 0x030d0000
    PRINT(thread_frame, offsetof(PyThreadState, cframe));
    PRINT(holder_frame, offsetof(_PyCFrame, current_frame));
#else
    PRINT(thread_frame, offsetof(PyThreadState, current_frame));
    PRINT(holder_frame, 65535);
#endif
    PRINT(frame_previous, offsetof(_PyInterpreterFrame, previous));
#if PY_VERSION_HEX < 0x030d0000
    PRINT(frame_code, offsetof(_PyInterpreterFrame, f_code));
    PRINT(frame_instruction, offsetof(_PyInterpreterFrame, prev_instr));
#else
    PRINT(frame_code, offsetof(_PyInterpreterFrame, f_executable));
    PRINT(frame_instruction, offsetof(_PyInterpreterFrame, instr_ptr));
#endif
    PRINT(frame_owner, offsetof(_PyInterpreterFrame, owner));
#endif
}

static void print_code(void)
{
    PRINT(code_first_line, offsetof(PyCodeObject, co_firstlineno));
    PRINT(code_file, offsetof(PyCodeObject, co_filename));
#if PY_VERSION_HEX < 0x030b0000
    PRINT(code_function, offsetof(PyCodeObject, co_name));
#else
    PRINT(code_function, offsetof(PyCodeObject, co_qualname));
#endif
#if PY_VERSION_HEX < 0x030a0000
    PRINT(code_lines, offsetof(PyCodeObject, co_lnotab));
#else
    PRINT(code_lines, offsetof(PyCodeObject, co_linetable));
#endif
#if PY_VERSION_HEX < 0x030b0000
    PRINT(code_first_instruction, 0);
    PRINT(code_first_traceable, 0);
#else
    PRINT(code_first_instruction, offsetof(PyCodeObject, co_code_adaptive));
    PRINT(code_first_traceable, offsetof(PyCodeObject, _co_firsttraceable));
#endif
}

static void print_objects(void)
{
    PyASCIIObject kind, compact, ascii;
    unsigned bits[3];

    memset(&kind, 0, sizeof kind);
    memset(&compact, 0, sizeof compact);
    memset(&ascii, 0, sizeof ascii);
    kind.state.kind = 7;
    compact.state.compact = 1;
    ascii.state.ascii = 1;
    memcpy(&bits[0], &kind.state, sizeof *bits);
    memcpy(&bits[1], &compact.state, sizeof *bits);
    memcpy(&bits[2], &ascii.state, sizeof *bits);
    PRINT(string_narrow, sizeof(PyASCIIObject));
    PRINT(string_wide, sizeof(PyCompactUnicodeObject));
    PRINT(type, offsetof(PyObject, ob_type));
    PRINT(string_length, offsetof(PyASCIIObject, length));
    PRINT(string_state, offsetof(PyASCIIObject, state));
    PRINT(state_kind, bits[0]);
    PRINT(state_compact, bits[1]);
    PRINT(state_ascii, bits[2]);
    PRINT(bytes_size, offsetof(PyVarObject, ob_size));
    PRINT(bytes_data, offsetof(PyBytesObject, ob_sval));
}

int main(void)
{
    PRINT(version, PY_VERSION_HEX >> 16);
    print_frames();
    print_code();
    print_objects();
    return 0;
}
