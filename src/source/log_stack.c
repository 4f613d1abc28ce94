/* SPDX-License-Identifier: Apache-2.0
 *
 * Writers share places by their number: two that have one place put each other out, and lose a stack at worst.
 */
#include "source/log_stack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

#define PLACES          256
#define FRAMES_MAX      1024
#define TEXT_BYTES_MAX  ((size_t)64 << 10) /* of a traceback */
#define NAME_BYTES_MAX  1024
#define DISTANCE_MAX    200 /* lines, of others too, from the last frame to the exception */
#define LINE_NUMBER_MAX 100000000

typedef struct frame {
    uint32_t file_at, file_len, function_at, function_len;
    uint64_t line;
} frame;

typedef struct traceback {
    uint64_t writer, last_line; /* in which its last frame stood */
    bool is_open;
    struct {
        frame *items; /* owned; outermost first */
        size_t count, capacity;
    } frames;
    nm_buffer text;
} traceback;

struct nm_log_stacks {
    traceback places[PLACES];
    size_t open_count;
};

nm_status nm_log_stacks_new(nm_log_stacks **out, nm_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

void nm_log_stacks_free(nm_log_stacks *stacks)
{
    for (size_t i = 0; stacks != NULL && i < PLACES; i++) {
        free(stacks->places[i].frames.items);
        nm_buffer_free(&stacks->places[i].text);
    }
    free(stacks);
}

static traceback *place_of(nm_log_stacks *stacks, uint64_t writer)
{
    return &stacks->places[(writer ^ writer >> 32) % PLACES];
}

static void set_open(nm_log_stacks *stacks, traceback *place, bool is_open)
{
    stacks->open_count += (size_t)is_open - (size_t)place->is_open;
    place->is_open = is_open;
    if (is_open)
        place->frames.count = place->text.len = 0;
}

static const uint8_t *find(const uint8_t *text, const uint8_t *end, const char *words)
{
    return text >= end ? NULL : memmem(text, (size_t)(end - text), words, strlen(words));
}

/* `  File "x.py", line 12, in f` */
static bool read_frame(nm_bytes line, nm_bytes *file, nm_bytes *function, uint64_t *number)
{
    const uint8_t *end = line.data + line.len, *begin = find(line.data, end, "File \""), *close, *at, *in;

    if (begin == NULL || (close = find(begin + 6, end, "\", line ")) == NULL)
        return false;
    *file = (nm_bytes){begin + 6, (size_t)(close - begin) - 6};
    *number = 0;
    for (at = close + strlen("\", line "); at < end && isdigit(*at) && *number < LINE_NUMBER_MAX; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    in = find(at, end, ", in ");
    *function = in == at && in != NULL ? (nm_bytes){in + 5, (size_t)(end - in) - 5} : (nm_bytes){at, 0};
    while (function->len > 0 && isspace(function->data[function->len - 1]))
        function->len--;
    const uint8_t *repeated = find(function->data, function->data + function->len, " [repeated ");
    if (repeated != NULL)
        function->len = (size_t)(repeated - function->data);
    return file->len > 0 && file->len <= NAME_BYTES_MAX && function->len <= NAME_BYTES_MAX;
}

static nm_status add_frame(traceback *place, nm_bytes file, nm_bytes function, uint64_t number, nm_error *err)
{
    if (place->frames.count >= FRAMES_MAX || place->text.len + file.len + function.len > TEXT_BYTES_MAX)
        place->frames.count = place->text.len = 0; /* the innermost are what matters */
    frame next = {(uint32_t)place->text.len, (uint32_t)file.len, (uint32_t)(place->text.len + file.len),
                  (uint32_t)function.len, number};
    nm_status status = nm_array_grow(&place->frames.items, &place->frames.capacity, place->frames.count + 1,
                                     sizeof *place->frames.items, err);

    if (status == NM_OK)
        status = nm_buffer_append(&place->text, file.data, file.len, err);
    if (status == NM_OK)
        status = nm_buffer_append(&place->text, function.data, function.len, err);
    if (status == NM_OK)
        place->frames.items[place->frames.count++] = next;
    return status;
}

static bool ends_traceback(nm_bytes line)
{
    const uint8_t *end = line.data + line.len;

    return find(line.data, end, "Error: ") != NULL || find(line.data, end, "Exception: ") != NULL;
}

bool nm_log_stacks_wants(const nm_log_stacks *stacks, nm_bytes line)
{
    const uint8_t *end = line.data + line.len;

    return find(line.data, end, "Traceback (most recent call last)") != NULL ||
           (stacks->open_count > 0 && (find(line.data, end, "File \"") != NULL || ends_traceback(line)));
}

nm_status nm_log_stacks_line(nm_log_stacks *stacks, uint64_t writer, uint64_t line_number, nm_bytes line, nm_error *err)
{
    traceback *place = place_of(stacks, writer);
    nm_bytes file, function;
    uint64_t number;

    if (find(line.data, line.data + line.len, "Traceback (most recent call last)") != NULL) {
        set_open(stacks, place, true);
        place->writer = writer;
        place->last_line = line_number;
        return NM_OK;
    }
    if (!place->is_open || place->writer != writer)
        return NM_OK;
    if (read_frame(line, &file, &function, &number)) {
        place->last_line = line_number;
        return add_frame(place, file, function, number, err);
    }
    if (ends_traceback(line))
        set_open(stacks, place, false);
    return NM_OK;
}

nm_status nm_log_stacks_take(nm_log_stacks *stacks, uint64_t writer, uint64_t line_number, nm_gathered *gathered,
                             uint64_t *stack_id, nm_error *err)
{
    traceback *place = place_of(stacks, writer);
    nm_status status = NM_OK;

    *stack_id = 0;
    if (!place->is_open || place->writer != writer || line_number - place->last_line > DISTANCE_MAX)
        return NM_OK;
    for (size_t i = 0; i < place->frames.count && gathered != NULL && status == NM_OK; i++) {
        const frame *item = &place->frames.items[i];
        uint64_t file = 0, function = 0, frame_id = 0;

        status = nm_gathered_string(gathered, (nm_bytes){place->text.data + item->file_at, item->file_len}, &file, err);
        if (status == NM_OK)
            status = nm_gathered_string(gathered, (nm_bytes){place->text.data + item->function_at, item->function_len},
                                        &function, err);
        if (status == NM_OK)
            status = nm_gathered_frame(gathered, function, file, item->line, &frame_id, err);
        if (status == NM_OK)
            status = nm_gathered_stack(gathered, *stack_id, frame_id, stack_id, err);
    }
    set_open(stacks, place, false);
    return status;
}
