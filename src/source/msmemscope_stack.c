/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts are read where they stand; what is no frame in the expected form is a function of that name.
 */
#include "source/msmemscope_stack.h"

#include <string.h>

typedef struct frame_text {
    nm_bytes function, file;
    uint64_t line;
} frame_text;

static nm_bytes part_of(nm_bytes text, size_t from, size_t to)
{
    return (nm_bytes){text.data + from, to - from};
}

static nm_bytes trimmed(nm_bytes text)
{
    while (text.len > 0 && strchr(" \t\r\n\"", text.data[0]) != NULL && text.data[0] != 0)
        text = part_of(text, 1, text.len);
    while (text.len > 0 && strchr(" \t\r\n\"", text.data[text.len - 1]) != NULL && text.data[text.len - 1] != 0)
        text.len--;
    return text;
}

/* The next line that says something. */
static bool next_line(nm_bytes *text, nm_bytes *line)
{
    while (text->len > 0) {
        const uint8_t *end = memchr(text->data, '\n', text->len);
        size_t len = end == NULL ? text->len : (size_t)(end - text->data);

        *line = trimmed(part_of(*text, 0, len));
        *text = part_of(*text, end == NULL ? len : len + 1, text->len);
        if (line->len > 0)
            return true;
    }
    return false;
}

/* Where the last of `byte` before `end` is; `end`: there is none. */
static size_t last_before(nm_bytes text, size_t end, char byte)
{
    const uint8_t *at = end == 0 ? NULL : memrchr(text.data, byte, end);

    return at == NULL ? end : (size_t)(at - text.data);
}

static uint64_t number_in(nm_bytes text)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text.len && text.data[i] >= '0' && text.data[i] <= '9' && number < UINT32_MAX; i++)
        number = number * 10 + (text.data[i] - '0');
    return number;
}

/* file(line): function */
static frame_text python_frame(nm_bytes line)
{
    const uint8_t *close = memmem(line.data, line.len, "): ", 3);
    size_t end = close == NULL ? line.len : (size_t)(close - line.data), open = last_before(line, end, '(');

    if (close == NULL || open == end)
        return (frame_text){.function = line};
    return (frame_text){trimmed(part_of(line, end + 3, line.len)), part_of(line, 0, open),
                        number_in(part_of(line, open + 1, end))};
}

static nm_bytes base_name(nm_bytes path)
{
    size_t slash = last_before(path, path.len, '/');

    return slash == path.len ? path : part_of(path, slash + 1, path.len);
}

/* module(function+offset) [address]; without a function the offset says where in the module it is. */
static frame_text native_frame(nm_bytes line)
{
    size_t end = last_before(line, line.len, ')'), open = last_before(line, end, '('),
           plus = last_before(line, end, '+');

    if (end == line.len || open == end)
        return (frame_text){.function = line};
    nm_bytes module = part_of(line, 0, open);
    bool has_name = plus > open + 1 && open + 1 < end;
    return (frame_text){has_name ? part_of(line, open + 1, plus) : base_name(part_of(line, 0, end)), module, 0};
}

static bool is_interpreter(const frame_text *frame)
{
    nm_bytes name = base_name(frame->file);

    return name.len >= 6 &&
           (memcmp(name.data, "python", 6) == 0 || (name.len >= 9 && memcmp(name.data, "libpython", 9) == 0));
}

/* "NA" stands where there is no stack. */
static size_t read_frames(nm_bytes text, bool is_native, bool has_python, frame_text *frames)
{
    size_t count = 0;
    nm_bytes line;

    while (count < NM_MSMEMSCOPE_FRAMES_MAX && next_line(&text, &line)) {
        if (line.len <= 3 && (memcmp(line.data, "NA", 2) == 0 || memcmp(line.data, "N/A", line.len) == 0))
            continue;
        frames[count] = is_native ? native_frame(line) : python_frame(line);
        if (is_native && has_python && is_interpreter(&frames[count]))
            break; /* from here on it is what the lines of Python say */
        count++;
    }
    return count;
}

static nm_status push_frame(nm_gathered *gathered, const frame_text *frame, uint64_t *stack, nm_error *err)
{
    uint64_t function = 0, file = 0, number = 0;
    nm_status status = nm_gathered_string(gathered, frame->function, &function, err);

    if (status == NM_OK)
        status = nm_gathered_string(gathered, frame->file, &file, err);
    if (status == NM_OK)
        status = nm_gathered_frame(gathered, function, file, frame->line, &number, err);
    return status == NM_OK ? nm_gathered_stack(gathered, *stack, number, stack, err) : status;
}

nm_status nm_msmemscope_stack(nm_gathered *gathered, nm_bytes python, nm_bytes native, uint64_t *stack, nm_error *err)
{
    frame_text frames[NM_MSMEMSCOPE_FRAMES_MAX];
    nm_status status = NM_OK;
    size_t count = read_frames(python, false, false, frames);
    bool has_python = count > 0;

    *stack = 0;
    while (status == NM_OK && count > 0)
        status = push_frame(gathered, &frames[--count], stack, err);
    if (status == NM_OK)
        count = read_frames(native, true, has_python, frames);
    while (status == NM_OK && count > 0)
        status = push_frame(gathered, &frames[--count], stack, err);
    return status;
}
