/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_python.h"

#include <check.h>
#include <string.h>
#include <sys/mman.h>

#define OBJECT_BYTES 256 /* room for any of the structures */
#define PAGE_BYTES   4096

static uintptr_t make(fake_python *fake, size_t bytes)
{
    uintptr_t object = (uintptr_t)fake->memory + fake->used_bytes;

    fake->used_bytes += (bytes + 15) / 16 * 16;
    ck_assert_uint_le(fake->used_bytes, FAKE_BYTES);
    return object;
}

void fake_set_word(uintptr_t object, unsigned offset, uintptr_t value)
{
    memcpy((char *)object + offset, &value, sizeof value);
}

static void set_half(uintptr_t object, unsigned offset, uint32_t value)
{
    memcpy((char *)object + offset, &value, sizeof value);
}

void fake_open(fake_python *fake, unsigned version)
{
    nm_python_layout_of(version, NULL, &fake->model.layout);
    ck_assert_uint_eq(fake->model.layout.version, version);
    fake->memory = mmap(NULL, FAKE_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(fake->memory != MAP_FAILED);
    mprotect(fake->memory + FAKE_BYTES, PAGE_BYTES, PROT_NONE);
    fake->used_bytes = 0;
    fake_set_word((uintptr_t)fake->memory, FAKE_BYTES - 8, 1); /* no null pointer at the end */
    fake->model.code_type = make(fake, 16);
    fake->model.frame_type = make(fake, 16);
    fake->model.string_type = make(fake, 16);
    fake->model.bytes_type = make(fake, 16);
}

void fake_close(fake_python *fake)
{
    munmap(fake->memory, FAKE_BYTES + PAGE_BYTES);
}

uintptr_t fake_string(fake_python *fake, const char *ascii)
{
    size_t length = strlen(ascii);
    uintptr_t string = make(fake, fake->model.layout.string_wide + length + 1);

    fake_set_word(string, NM_PYTHON_TYPE, fake->model.string_type);
    fake_set_word(string, NM_PYTHON_STRING_LENGTH, length);
    set_half(string, NM_PYTHON_STRING_STATE, 1 << 2 | NM_PYTHON_STATE_COMPACT | NM_PYTHON_STATE_ASCII);
    memcpy((char *)string + fake->model.layout.string_narrow, ascii, length + 1);
    return string;
}

uintptr_t fake_wide(fake_python *fake, unsigned kind, const uint32_t *characters, size_t count)
{
    uintptr_t string = make(fake, fake->model.layout.string_wide + count * kind);

    fake_set_word(string, NM_PYTHON_TYPE, fake->model.string_type);
    fake_set_word(string, NM_PYTHON_STRING_LENGTH, count);
    set_half(string, NM_PYTHON_STRING_STATE, kind << 2 | NM_PYTHON_STATE_COMPACT);
    for (size_t i = 0; i < count; i++) /* little-endian, as all hosts of this project */
        memcpy((char *)string + fake->model.layout.string_wide + i * kind, &characters[i], kind);
    return string;
}

uintptr_t fake_bytes(fake_python *fake, const uint8_t *data, size_t count)
{
    uintptr_t bytes = make(fake, NM_PYTHON_BYTES_DATA + count + 1);

    fake_set_word(bytes, NM_PYTHON_TYPE, fake->model.bytes_type);
    fake_set_word(bytes, NM_PYTHON_BYTES_SIZE, count);
    memcpy((char *)bytes + NM_PYTHON_BYTES_DATA, data, count);
    return bytes;
}

uintptr_t fake_next_line(fake_python *fake)
{
    static const uint8_t pairs[] = {0, 1, 255, 0, 255, 0, 255, 1};
    static const uint8_t ranges[] = {254, 1, 254, 0, 254, 0};
    uint8_t places[3 * 32];

    switch (fake->model.layout.lines) {
    case NM_PYTHON_LINES_PAIRS:
        return fake_bytes(fake, pairs, sizeof pairs);
    case NM_PYTHON_LINES_RANGES:
        return fake_bytes(fake, ranges, sizeof ranges);
    default:
        for (size_t i = 0; i < sizeof places; i += 3) { /* one line, 8 units; then the columns */
            places[i] = (uint8_t)(0x80 | (i == 0 ? 11 : 10) << 3 | 7);
            places[i + 1] = places[i + 2] = 1;
        }
        return fake_bytes(fake, places, sizeof places);
    }
}

uintptr_t fake_code(fake_python *fake, uintptr_t file, uintptr_t function, uint32_t first_line, uintptr_t lines)
{
    const nm_python_layout *layout = &fake->model.layout;
    uintptr_t code = make(fake, OBJECT_BYTES + 512);

    fake_set_word(code, NM_PYTHON_TYPE, fake->model.code_type);
    fake_set_word(code, layout->code_file, file);
    fake_set_word(code, layout->code_function, function);
    fake_set_word(code, layout->code_lines, lines);
    set_half(code, layout->code_first_line, first_line);
    return code;
}

uintptr_t fake_frame(fake_python *fake, uintptr_t previous, uintptr_t code, int instruction_bytes)
{
    const nm_python_layout *layout = &fake->model.layout;
    uintptr_t frame = make(fake, OBJECT_BYTES);

    if (layout->frame_owner == 0)
        fake_set_word(frame, NM_PYTHON_TYPE, fake->model.frame_type);
    fake_set_word(frame, layout->frame_previous, previous);
    fake_set_word(frame, layout->frame_code, code);
    if (layout->instruction_kind == NM_PYTHON_ADDRESS)
        fake_set_word(frame, layout->frame_instruction, code + layout->code_first_instruction + instruction_bytes);
    else
        set_half(
            frame, layout->frame_instruction,
            (uint32_t)(layout->instruction_kind == NM_PYTHON_INDEX_UNITS ? instruction_bytes / 2 : instruction_bytes));
    return frame;
}

uintptr_t fake_thread(fake_python *fake, uintptr_t frame)
{
    const nm_python_layout *layout = &fake->model.layout;
    uintptr_t thread = make(fake, OBJECT_BYTES), holder = frame;

    if (layout->holder_frame != NM_PYTHON_NO_HOLDER) {
        holder = make(fake, OBJECT_BYTES);
        fake_set_word(holder, layout->holder_frame, frame);
    }
    fake_set_word(thread, layout->thread_frame, holder);
    return thread;
}
