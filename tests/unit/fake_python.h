/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a made-up interpreter: threads, frames, code objects and strings, laid out as one version of CPython lays
 * them out, in a piece of memory with nothing readable behind it.
 */
#ifndef NM_TESTS_UNIT_FAKE_PYTHON_H
#define NM_TESTS_UNIT_FAKE_PYTHON_H

#include "record/python_walk.h"

#define FAKE_BYTES (256u << 10)

typedef struct fake_python {
    nm_python_model model;
    uint8_t *memory; /* FAKE_BYTES, and a page that cannot be read */
    size_t used_bytes;
} fake_python;

/* The types are objects of the image, unless they are set afterwards. */
void fake_open(fake_python *fake, unsigned version);
void fake_close(fake_python *fake);

uintptr_t fake_string(fake_python *fake, const char *ascii);
uintptr_t fake_wide(fake_python *fake, unsigned kind, const uint32_t *characters, size_t count); /* kind 1, 2 or 4 */
uintptr_t fake_bytes(fake_python *fake, const uint8_t *data, size_t count);
uintptr_t fake_code(fake_python *fake, uintptr_t file, uintptr_t function, uint32_t first_line, uintptr_t lines);

/* `instruction_bytes`: of the last instruction. */
uintptr_t fake_frame(fake_python *fake, uintptr_t previous, uintptr_t code, int instruction_bytes);
uintptr_t fake_thread(fake_python *fake, uintptr_t frame);

/* A line table by which every instruction below 512 bytes is on `first_line` + 1. */
uintptr_t fake_next_line(fake_python *fake);

void fake_set_word(uintptr_t object, unsigned offset, uintptr_t value);

#endif
