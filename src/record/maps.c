/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of the kernel's text after the other, and three questions that need a single look at it: what may be read of a
 * stack, what code is around an address, which file it is of. Nothing is kept: what must be known at every stack stands in
 * modules.c.
 */
#include "record/maps.h"

#include <string.h>

#include "base/text.h"
#include "record/system.h"
#include "record/text.h"

#define MAPS_FIRST_BYTES (256u << 10)
#define MAPS_BYTES_MAX   (64u << 20)
#define STACK_GAP_BYTES  (128u << 20) /* the kernel maps nothing so near below the main thread's stack */

char *nm_maps_read(size_t *text_bytes, size_t *mapped_bytes)
{
    for (size_t room = MAPS_FIRST_BYTES; room <= MAPS_BYTES_MAX; room *= 2) {
        char *text = nm_system_memory(room);
        size_t got = text != NULL ? nm_system_slurp("/proc/self/maps", text, room - 1) : 0;

        if (got > 0 && got < room - 1) {
            *text_bytes = got;
            *mapped_bytes = room;
            return text;
        }
        if (text == NULL)
            return NULL;
        nm_system_unmap(text, room);
        if (got == 0)
            return NULL;
    }
    return NULL;
}

static const char *skip_spaces(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

const char *nm_maps_next(const char *line, nm_mapping *out)
{
    const char *at, *end = strchr(line, '\n');
    uint64_t major;

    if (end == NULL)
        return NULL;
    out->begin = nm_text_hexadecimal(line, &at);
    out->end = nm_text_hexadecimal(at + (*at == '-'), &at);
    at = skip_spaces(at);
    if (end - at < 4)
        return NULL;
    out->is_readable = at[0] == 'r';
    out->is_writable = at[1] == 'w';
    out->is_executable = at[2] == 'x';
    out->offset = nm_text_hexadecimal(skip_spaces(at + 4), &at);
    major = nm_text_hexadecimal(skip_spaces(at), &at);
    out->device = major << 20 | nm_text_hexadecimal(at + (*at == ':'), &at);
    out->inode = (uint64_t)nm_text_number(skip_spaces(at), &at);
    out->path = skip_spaces(at);
    out->path_bytes = (size_t)(end - out->path);
    return end + 1;
}

static bool is_main_stack(const nm_mapping *mapping)
{
    return mapping->path_bytes == 7 && memcmp(mapping->path, "[stack]", 7) == 0;
}

/* The main thread's stack grows downwards into room that the kernel keeps free, as far as its limit allows. */
static uintptr_t lowest_begin(const nm_mapping *mapping)
{
    size_t limit;

    if (!is_main_stack(mapping))
        return mapping->begin;
    limit = nm_system_stack_limit();
    limit = limit < STACK_GAP_BYTES ? limit : STACK_GAP_BYTES;
    return mapping->end - mapping->begin < limit && mapping->end > limit ? mapping->end - limit : mapping->begin;
}

bool nm_maps_stack_bounds(uintptr_t frame, uintptr_t *begin, uintptr_t *end)
{
    size_t text_bytes, mapped_bytes;
    char *text = nm_maps_read(&text_bytes, &mapped_bytes);
    uintptr_t self = (uintptr_t)__builtin_thread_pointer();
    nm_mapping mapping;
    bool is_own = false;

    for (const char *line = text; line != NULL && (line = nm_maps_next(line, &mapping)) != NULL;) {
        bool has_self = self > frame && self < mapping.end;

        if (frame < mapping.begin || frame >= mapping.end || !mapping.is_readable)
            continue;
        *begin = lowest_begin(&mapping);
        *end = has_self ? self & ~(uintptr_t)7 : mapping.end;
        is_own = has_self || is_main_stack(&mapping);
        break;
    }
    if (text != NULL)
        nm_system_unmap(text, mapped_bytes);
    return is_own;
}

void nm_maps_code_around(uintptr_t address, uintptr_t *begin, uintptr_t *end)
{
    size_t text_bytes, mapped_bytes;
    char *text = nm_maps_read(&text_bytes, &mapped_bytes);
    nm_mapping mapping;

    for (const char *line = text; line != NULL && (line = nm_maps_next(line, &mapping)) != NULL;) {
        if (address < mapping.begin || address >= mapping.end || !mapping.is_executable)
            continue;
        *begin = mapping.begin;
        *end = mapping.end;
        break;
    }
    if (text != NULL)
        nm_system_unmap(text, mapped_bytes);
}

bool nm_maps_path_of(uintptr_t address, char *path, size_t path_bytes)
{
    size_t text_bytes, mapped_bytes;
    char *text = nm_maps_read(&text_bytes, &mapped_bytes);
    bool is_found = false;
    nm_mapping mapping;

    for (const char *line = text; line != NULL && (line = nm_maps_next(line, &mapping)) != NULL && !is_found;) {
        is_found = address >= mapping.begin && address < mapping.end && mapping.path_bytes > 0 &&
                   mapping.path[0] == '/' && mapping.path_bytes < path_bytes;
        if (is_found) {
            memcpy(path, mapping.path, mapping.path_bytes);
            path[mapping.path_bytes] = 0;
        }
    }
    if (text != NULL)
        nm_system_unmap(text, mapped_bytes);
    return is_found;
}
