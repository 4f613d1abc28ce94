/* SPDX-License-Identifier: Apache-2.0
 *
 * Where CPython keeps what a stack walk needs, one table per minor version: distances in bytes inside its structures, which
 * do not change between the patches of a minor version. From 3.13 on the interpreter publishes most of them itself, and
 * those hold; the others were measured with its headers (tests/tool/python_layout.sh measures them again).
 */
#ifndef NM_RECORD_PYTHON_LAYOUT_H
#define NM_RECORD_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define NM_PYTHON_VERSION_MIN 0x0308 /* major and minor in one byte each */
#define NM_PYTHON_VERSION_MAX 0x030d

typedef enum nm_python_lines {
    NM_PYTHON_LINES_PAIRS = 1,  /* 3.8, 3.9: steps of address and line */
    NM_PYTHON_LINES_RANGES = 2, /* 3.10: ranges of addresses, with a step of the line each */
    NM_PYTHON_LINES_PLACES = 3, /* from 3.11: ranges with lines and columns */
} nm_python_lines;

typedef struct nm_python_layout {
    uint16_t version;
    uint8_t lines;            /* nm_python_lines */
    uint8_t instruction_kind; /* nm_python_instruction */
    uint16_t thread_frame;    /* the innermost frame, or what holds it */
    uint16_t holder_frame;    /* in what holds it; UINT16_MAX: thread_frame is the frame itself */
    uint16_t frame_previous, frame_code, frame_instruction;
    uint16_t frame_owner; /* 0: there is none, and a frame is an object */
    uint16_t code_first_line, code_file, code_function, code_lines;
    uint16_t code_first_instruction, code_first_traceable; /* 0: there is none */
    uint16_t string_narrow, string_wide;                   /* where the characters begin */
} nm_python_layout;

typedef enum nm_python_instruction {                            /* what frame_instruction holds */
                                     NM_PYTHON_INDEX_BYTES = 1, /* of the last instruction, in bytes */
                                     NM_PYTHON_INDEX_UNITS = 2, /* the same, in units of two bytes */
                                     NM_PYTHON_ADDRESS = 3,
} nm_python_instruction;

/* The same in all versions. */
#define NM_PYTHON_TYPE            8 /* of any object */
#define NM_PYTHON_STRING_LENGTH   16
#define NM_PYTHON_STRING_STATE    32
#define NM_PYTHON_STATE_KIND      0x1c /* shifted by 2: bytes of a character */
#define NM_PYTHON_STATE_COMPACT   0x20
#define NM_PYTHON_STATE_ASCII     0x40
#define NM_PYTHON_BYTES_SIZE      16
#define NM_PYTHON_BYTES_DATA      32
#define NM_PYTHON_OWNER_GENERATOR 1
#define NM_PYTHON_UNIT_BYTES      2
#define NM_PYTHON_NO_HOLDER       UINT16_MAX

/* False: the version is not known here. `runtime` is the interpreter's _PyRuntime (needed from 3.13 on, where a build
 * without the lock is refused). */
bool nm_python_layout_of(unsigned version, const void *runtime, nm_python_layout *out);

#endif
