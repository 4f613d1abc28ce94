/* SPDX-License-Identifier: Apache-2.0
 *
 * The Python frames of a thread, read as plain data while the thread is inside a native call, where they are frozen: nothing
 * of the interpreter is called, and the lock is not needed. There are two walks:
 *
 *   nm_python_collect  trusts nothing: it asks the kernel whether an address can be read before it reads it, and follows a
 *                      pointer only to an object of the type that must be there. For the first stack of each thread, and
 *                      for every stack that is new.
 *   nm_python_hash     reads without asking, as the interpreter would. For a thread whose frames a collect has found to be
 *                      what they should be: a system call per event would cost more than all the rest.
 *
 * What remains is a thread state that dies under a thread that is still in a native call. That happens to daemon threads
 * when the interpreter ends; record/python.c stops walking as soon as the interpreter says that it does.
 */
#ifndef NM_RECORD_PYTHON_WALK_H
#define NM_RECORD_PYTHON_WALK_H

#include <stddef.h>

#include "record/python_layout.h"

typedef struct nm_python_model {
    nm_python_layout layout;
    uintptr_t code_type, frame_type, string_type, bytes_type; /* addresses of the type objects */
} nm_python_model;

typedef struct nm_python_place {
    uintptr_t frame, code;
    int64_t instruction_bytes; /* of the last instruction, in the code; negative: not begun */
    uint64_t fingerprint;      /* of code and instruction */
} nm_python_place;

typedef struct nm_python_walk {
    unsigned count;
    bool is_sound; /* ended at the outermost frame or at the limit, not at something that is no frame */
    bool is_whole; /* ended at the outermost frame */
} nm_python_walk;

/*
 * A hash of the frames of `thread_state` (PyThreadState), at most `limit` of them, innermost first; 0: there are none.
 *
 * The hash of a code object is not made of its address alone, since a code object may be freed and another be made in its
 * place: it also takes the addresses of its names and its line table, its first line, and length and last characters of
 * its file's name. Of code whose file is a made-up one ("<string>") it takes the whole line table too, since such code
 * comes and goes.
 */
uint64_t nm_python_hash(const nm_python_model *model, uintptr_t thread_state, unsigned limit);

/* Is there a frame at all? Reads as nm_python_hash does. */
bool nm_python_has_frames(const nm_python_model *model, uintptr_t thread_state);

/* The same frames, checked. What it gives can be read by nm_python_describe. */
nm_python_walk nm_python_collect(const nm_python_model *model, uintptr_t thread_state, unsigned limit,
                                 nm_python_place *places);

/* ---- Names --------------------------------------------------------------------------------------------------------- */

#define NM_PYTHON_FUNCTION_BYTES_MAX 256
#define NM_PYTHON_FILE_BYTES_MAX     1024

typedef struct nm_python_text {
    uint32_t line; /* 0: not known */
    size_t function_bytes, file_bytes;
    char text[NM_PYTHON_FUNCTION_BYTES_MAX + NM_PYTHON_FILE_BYTES_MAX]; /* UTF-8: the function, then the file */
} nm_python_text;

/* Function, file and line of a place that was collected. What is longer than its limit loses its beginning. */
void nm_python_describe(const nm_python_model *model, const nm_python_place *place, nm_python_text *out);

/* The line of an instruction by a line table of the given form; 0: it has none. */
uint32_t nm_python_line(nm_python_lines form, const uint8_t *table, size_t bytes, uint32_t first_line,
                        int64_t instruction_bytes);

#endif
