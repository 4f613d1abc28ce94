/* SPDX-License-Identifier: Apache-2.0
 *
 * Two walks over the frames of a thread. The quick one runs at every event and only hashes what lies where the layout
 * says; the careful one runs where a stack is new, asks the kernel whether a page can be read, and follows a pointer
 * only to an object of the type that must be there. Neither calls the interpreter nor writes to it.
 */
#include "record/python_walk.h"

#include <string.h>

#include "record/machine.h"
#include "record/system.h"

#define PAGE_BYTES      4096
#define CACHED_PAGES    16
#define STRING_BYTES    (1u << 20) /* a longer name is no name */
#define TABLE_BYTES_MAX (64u << 20)
#define TABLE_SUM_BYTES 4096
#define OBJECT_MASK     7
#define NO_ASAN         __attribute__((no_sanitize("address", "thread", "undefined")))

/* ---- Plain reads --------------------------------------------------------------------------------------------------- */

NO_ASAN static inline uintptr_t word_at(uintptr_t address)
{
    return *(const uintptr_t *)address;
}

NO_ASAN static inline uint32_t half_at(uintptr_t address)
{
    return *(const uint32_t *)address;
}

NO_ASAN static inline uint8_t byte_at(uintptr_t address)
{
    return *(const uint8_t *)address;
}

NO_ASAN static inline uint64_t unaligned_at(uintptr_t address)
{
    uint64_t word;

    __builtin_memcpy(&word, (const void *)address, sizeof word);
    return word;
}

static inline bool is_object_address(uintptr_t address)
{
    return address >= PAGE_BYTES && (address & OBJECT_MASK) == 0;
}

static inline uintptr_t first_frame(const nm_python_layout *layout, uintptr_t thread_state)
{
    uintptr_t first = word_at(thread_state + layout->thread_frame);

    if (layout->holder_frame == NM_PYTHON_NO_HOLDER || !is_object_address(first))
        return first;
    return word_at(first + layout->holder_frame);
}

/* What tells one instruction from another: its address, or its place in the code. */
static inline uint64_t instruction_of(const nm_python_layout *layout, uintptr_t frame)
{
    uintptr_t at = frame + layout->frame_instruction;

    return layout->instruction_kind == NM_PYTHON_ADDRESS ? word_at(at) : half_at(at);
}

/* ---- The fast walk ------------------------------------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t value)
{
    value *= UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 32;
}

/* Two words into one: both halves of their product. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product =
        (unsigned __int128)(a ^ UINT64_C(0xa0761d6478bd642f)) * (b ^ UINT64_C(0xe7037ed1a0b428db));

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The last eight bytes of a string or table; in a short one some of its head, which is as constant. */
static inline uint64_t tail_of(uintptr_t object, unsigned data, uint64_t length)
{
    return unaligned_at(object + data + (length < TABLE_BYTES_MAX ? length : 0) - sizeof(uint64_t));
}

/* Code made at run time often differs in nothing but its lines. */
static uint64_t sum_of_content(const nm_python_layout *layout, uintptr_t function, uintptr_t table)
{
    uint64_t function_length = word_at(function + NM_PYTHON_STRING_LENGTH);
    uint64_t size = word_at(table + NM_PYTHON_BYTES_SIZE);
    uint64_t sum = fold(function_length ^ size << 32, tail_of(function, layout->string_narrow, function_length));

    for (uint64_t at = 0; at + sizeof(uint64_t) <= size && at < TABLE_SUM_BYTES; at += sizeof(uint64_t))
        sum = mix(sum ^ unaligned_at(table + NM_PYTHON_BYTES_DATA + at));
    return sum ^ mix(tail_of(table, NM_PYTHON_BYTES_DATA, size));
}

/* "<string>", "<ipython-input-1>" and the like; a name of other characters is taken for such a one too. */
static inline bool is_made_at_run_time(const nm_python_layout *layout, uintptr_t file)
{
    return byte_at(file + layout->string_narrow) == '<' ||
           (half_at(file + NM_PYTHON_STRING_STATE) & NM_PYTHON_STATE_ASCII) == 0;
}

static inline uint64_t fingerprint(const nm_python_layout *layout, uintptr_t code, uint64_t instruction)
{
    uintptr_t file = word_at(code + layout->code_file);
    uintptr_t function = word_at(code + layout->code_function);
    uintptr_t lines = word_at(code + layout->code_lines);
    uint64_t file_length = word_at(file + NM_PYTHON_STRING_LENGTH);
    uint64_t first_line = half_at(code + layout->code_first_line);
    uint64_t sum = fold(code, instruction) +
                   fold(file ^ file_length << 48, tail_of(file, layout->string_narrow, file_length)) +
                   fold(function ^ first_line << 40, lines);

    if (nm_unlikely(is_made_at_run_time(layout, file)))
        sum += sum_of_content(layout, function, lines);
    return sum;
}

/* A frame without a code object (from 3.12 on, where C calls Python) is passed over, and counts for nothing. */
static inline bool has_code(const nm_python_model *model, uintptr_t code)
{
    return is_object_address(code) && word_at(code + NM_PYTHON_TYPE) == model->code_type;
}

static inline unsigned steps_max(unsigned limit)
{
    return limit * 2 + 64; /* of frames with those that are passed over */
}

bool nm_python_has_frames(const nm_python_model *model, uintptr_t thread_state)
{
    return first_frame(&model->layout, thread_state) != 0;
}

uint64_t nm_python_hash(const nm_python_model *model, uintptr_t thread_state, unsigned limit)
{
    const nm_python_layout *layout = &model->layout;
    uintptr_t frame = first_frame(layout, thread_state);
    uint64_t hash = 0;
    unsigned count = 0;

    for (unsigned steps = steps_max(limit); steps > 0 && count < limit && is_object_address(frame); steps--) {
        uintptr_t code = word_at(frame + layout->frame_code);

        if (has_code(model, code)) {
            hash = (hash + fingerprint(layout, code, instruction_of(layout, frame))) * UINT64_C(0xd6e8feb86659fd93);
            count++;
        }
        frame = word_at(frame + layout->frame_previous);
    }
    return count == 0 ? 0 : hash | (hash == 0);
}

/* ---- Asking the kernel --------------------------------------------------------------------------------------------- */

typedef struct nm_pages { /* that were found readable in this walk */
    uintptr_t pages[CACHED_PAGES];
    unsigned next;
} nm_pages;

static bool is_page_readable(nm_pages *known, uintptr_t page)
{
    for (unsigned i = 0; i < CACHED_PAGES; i++) {
        if (known->pages[i] == page)
            return true;
    }
    if (!nm_system_is_readable((const void *)page))
        return false;
    known->pages[known->next++ % CACHED_PAGES] = page;
    return true;
}

static bool is_range_readable(nm_pages *known, uintptr_t address, size_t bytes)
{
    uintptr_t page = address / PAGE_BYTES * PAGE_BYTES;

    if (address < PAGE_BYTES || address + bytes < address)
        return false;
    for (; page < address + bytes; page += PAGE_BYTES) {
        if (!is_page_readable(known, page))
            return false;
    }
    return true;
}

/* ---- The careful walk ---------------------------------------------------------------------------------------------- */

static bool is_object(nm_pages *known, uintptr_t object, size_t bytes, uintptr_t type)
{
    return is_object_address(object) && is_range_readable(known, object, bytes) &&
           word_at(object + NM_PYTHON_TYPE) == type;
}

/* As many bytes from the start of the string as its characters need; 0: not a string of the compact form. */
static size_t string_bytes(const nm_python_model *model, uintptr_t string)
{
    uint64_t length = word_at(string + NM_PYTHON_STRING_LENGTH);
    uint32_t state = half_at(string + NM_PYTHON_STRING_STATE);
    unsigned kind = (state & NM_PYTHON_STATE_KIND) >> 2;
    bool is_ascii = (state & NM_PYTHON_STATE_ASCII) != 0;

    if ((state & NM_PYTHON_STATE_COMPACT) == 0 || length > STRING_BYTES || (kind != 1 && kind != 2 && kind != 4))
        return 0;
    return (is_ascii ? model->layout.string_narrow : model->layout.string_wide) + length * kind;
}

static bool is_string(const nm_python_model *model, nm_pages *known, uintptr_t string)
{
    size_t bytes =
        is_object(known, string, model->layout.string_wide, model->string_type) ? string_bytes(model, string) : 0;

    return bytes != 0 && is_range_readable(known, string, bytes);
}

static bool is_table(const nm_python_model *model, nm_pages *known, uintptr_t table)
{
    return is_object(known, table, NM_PYTHON_BYTES_DATA, model->bytes_type) &&
           word_at(table + NM_PYTHON_BYTES_SIZE) <= TABLE_BYTES_MAX &&
           is_range_readable(known, table, NM_PYTHON_BYTES_DATA + word_at(table + NM_PYTHON_BYTES_SIZE));
}

static bool is_code(const nm_python_model *model, nm_pages *known, uintptr_t code)
{
    const nm_python_layout *layout = &model->layout;
    size_t bytes = layout->code_first_instruction != 0 ? layout->code_first_instruction : layout->code_lines + 8u;

    return is_object(known, code, bytes, model->code_type) &&
           is_string(model, known, word_at(code + layout->code_file)) &&
           is_string(model, known, word_at(code + layout->code_function)) &&
           is_table(model, known, word_at(code + layout->code_lines));
}

static bool is_frame(const nm_python_model *model, nm_pages *known, uintptr_t frame)
{
    const nm_python_layout *layout = &model->layout;

    if (layout->frame_owner == 0)
        return is_object(known, frame, layout->frame_instruction + 4u, model->frame_type);
    return is_object_address(frame) && is_range_readable(known, frame, layout->frame_owner + 1u);
}

/* A frame without a code object has something of another type in its place, that can be read all the same. */
static bool is_without_code(nm_pages *known, uintptr_t code)
{
    return code == 0 || (is_object_address(code) && is_range_readable(known, code, 2 * NM_PYTHON_TYPE));
}

static int64_t instruction_bytes(const nm_python_layout *layout, uintptr_t frame, uintptr_t code)
{
    uint64_t instruction = instruction_of(layout, frame);

    switch (layout->instruction_kind) {
    case NM_PYTHON_INDEX_BYTES:
        return (int32_t)instruction;
    case NM_PYTHON_INDEX_UNITS:
        return (int64_t)(int32_t)instruction * NM_PYTHON_UNIT_BYTES;
    default:
        return (int64_t)(instruction - (code + layout->code_first_instruction));
    }
}

/* The interpreter does not show a frame that is still being made. */
static bool is_complete(const nm_python_layout *layout, const nm_python_place *place)
{
    if (layout->frame_owner == 0 || byte_at(place->frame + layout->frame_owner) == NM_PYTHON_OWNER_GENERATOR)
        return true;
    return place->instruction_bytes >=
           (int64_t)(int32_t)half_at(place->code + layout->code_first_traceable) * NM_PYTHON_UNIT_BYTES;
}

static uintptr_t checked_first(const nm_python_layout *layout, nm_pages *known, uintptr_t thread_state, bool *is_sound)
{
    uintptr_t holder;

    *is_sound = is_object_address(thread_state) &&
                is_range_readable(known, thread_state, layout->thread_frame + sizeof(uintptr_t));
    if (!*is_sound)
        return 0;
    holder = word_at(thread_state + layout->thread_frame);
    if (layout->holder_frame != NM_PYTHON_NO_HOLDER && holder != 0)
        *is_sound =
            is_object_address(holder) && is_range_readable(known, holder, layout->holder_frame + sizeof(uintptr_t));
    return *is_sound ? first_frame(layout, thread_state) : 0;
}

nm_python_walk nm_python_collect(const nm_python_model *model, uintptr_t thread_state, unsigned limit,
                                 nm_python_place *places)
{
    const nm_python_layout *layout = &model->layout;
    nm_pages known = {0};
    nm_python_walk walk = {0};
    uintptr_t frame = checked_first(layout, &known, thread_state, &walk.is_sound);
    unsigned seen = 0;

    for (unsigned steps = steps_max(limit); frame != 0 && seen < limit; steps--) {
        nm_python_place place = {.frame = frame};

        if (steps == 0 || !is_frame(model, &known, frame)) {
            walk.is_sound = false;
            break;
        }
        place.code = word_at(frame + layout->frame_code);
        if (is_code(model, &known, place.code)) {
            seen++;
            place.instruction_bytes = instruction_bytes(layout, frame, place.code);
            place.fingerprint = fingerprint(layout, place.code, instruction_of(layout, frame));
            if (is_complete(layout, &place))
                places[walk.count++] = place;
        } else if (layout->frame_owner == 0 || !is_without_code(&known, place.code) || has_code(model, place.code)) {
            walk.is_sound = false;
            break;
        }
        frame = word_at(frame + layout->frame_previous);
    }
    walk.is_whole = walk.is_sound && frame == 0;
    return walk;
}
