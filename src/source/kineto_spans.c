/* SPDX-License-Identifier: Apache-2.0
 *
 * One walk over the spans in the order of their beginnings. They nest, but for times that were rounded to a microsecond: one that
 * is over stays while one in it is open.
 */
#include "source/kineto_spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

#define PATH_BYTES_MAX 4096

/* ---- Names ---- */

/* "<built-in method view of Tensor object at 0x7f00>": the same of each tensor. Bytes that stay. */
static size_t without_address(nm_bytes name)
{
    static const char begin[] = " at 0x";
    const uint8_t *at = memmem(name.data, name.len, begin, sizeof begin - 1);

    return at == NULL || name.data[0] != '<' ? name.len : (size_t)(at - name.data);
}

/* Where "(line): " begins in "file(line): function"; name.len where it is nothing of that. */
static size_t place_of_line(nm_bytes name, uint64_t *line, size_t *function)
{
    for (size_t at = 0; at + 4 < name.len; at++) {
        size_t end = at + 1;

        *line = 0;
        while (name.data[at] == '(' && end < name.len && name.data[end] >= '0' && name.data[end] <= '9' &&
               *line < UINT32_MAX)
            *line = *line * 10 + (name.data[end++] - '0');
        *function = end + 3;
        if (at > 0 && end > at + 1 && name.len - end > 3 && memcmp(name.data + end, "): ", 3) == 0)
            return at;
    }
    return name.len;
}

/* Is the first folder that of a library? */
static bool is_library(nm_bytes path)
{
    static const char *const names[] = {"accelerate",  "apex",         "deepspeed", "diffusers", "einops",
                                        "flash_attn",  "peft",         "torch",     "torch_npu", "torchaudio",
                                        "torchvision", "transformers", "trl",       "xformers"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t len = strlen(names[i]);

        if (path.len > len && path.data[len] == '/' && memcmp(path.data, names[i], len) == 0)
            return true;
    }
    return false;
}

/* Paths begin behind the folder of sys.path that they are in: put in front again, where it is known, so that rules of sites hold. */
static nm_status file_of(nm_gathered *gathered, nm_bytes path, uint64_t *file, nm_error *err)
{
    char text[PATH_BYTES_MAX + 16];
    const char *folder = is_library(path) ? "site-packages/" : "./";
    size_t len = strlen(folder);

    if (path.len > PATH_BYTES_MAX || strchr("/<.", path.data[0]) != NULL || path.data[1] == ':')
        return nm_gathered_string(gathered, path, file, err);
    memcpy(text, folder, len);
    memcpy(text + len, path.data, path.len);
    return nm_gathered_string(gathered, (nm_bytes){(const uint8_t *)text, len + path.len}, file, err);
}

static nm_status frame_of(nm_gathered *gathered, nm_bytes name, uint64_t *frame, nm_error *err)
{
    uint64_t line = 0, file = 0, function = 0;
    size_t begin = 0, file_bytes = place_of_line(name, &line, &begin);
    nm_status status;

    if (file_bytes < name.len) {
        status = file_of(gathered, (nm_bytes){name.data, file_bytes}, &file, err);
        if (status == NM_OK)
            status = nm_gathered_string(gathered, (nm_bytes){name.data + begin, name.len - begin}, &function, err);
    } else {
        line = 0;
        status = nm_gathered_string(gathered, (nm_bytes){name.data, without_address(name)}, &function, err);
    }
    return status == NM_OK ? nm_gathered_frame(gathered, function, file, line, frame, err) : status;
}

/* ---- The list ---- */

nm_status nm_kineto_spans_add(nm_kineto_spans *spans, uint32_t thread, int64_t begin_ns, int64_t end_ns, nm_bytes name,
                              nm_error *err)
{
    uint64_t frame = 0;
    nm_status status = frame_of(spans->gathered, name, &frame, err);

    if (status == NM_OK && (frame > UINT32_MAX || spans->list.count >= UINT32_MAX))
        status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than %u spans around events of memory", UINT32_MAX);
    if (status == NM_OK)
        status = nm_array_grow(&spans->list.items, &spans->list.capacity, spans->list.count + 1,
                               sizeof *spans->list.items, err);
    if (status != NM_OK)
        return status;
    spans->list.items[spans->list.count] =
        (nm_kineto_span){begin_ns, end_ns, thread, (uint32_t)frame, (uint32_t)spans->list.count};
    spans->list.count++;
    return NM_OK;
}

static int compare_spans(const void *left, const void *right)
{
    const nm_kineto_span *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

void nm_kineto_spans_sort(nm_kineto_spans *spans)
{
    if (spans->list.count > 0)
        qsort(spans->list.items, spans->list.count, sizeof *spans->list.items, compare_spans);
}

void nm_kineto_spans_free(nm_kineto_spans *spans)
{
    free(spans->list.items);
    spans->list.items = NULL;
    spans->list.count = spans->list.capacity = spans->at = spans->open_count = 0;
}

/* ---- The walk ---- */

static uint64_t innermost(const nm_kineto_spans *spans)
{
    return spans->open_count == 0 ? 0 : spans->open[spans->open_count - 1].stack;
}

static void close_before(nm_kineto_spans *spans, int64_t time_ns)
{
    while (spans->open_count > 0 && spans->open[spans->open_count - 1].end_ns < time_ns)
        spans->open_count--;
}

static nm_status open_span(nm_kineto_spans *spans, const nm_kineto_span *span, nm_error *err)
{
    /* One that ends where this begins is the one before it: times may be whole microseconds. */
    close_before(spans, span->begin_ns + (span->end_ns > span->begin_ns));
    if (spans->open_count == NM_KINETO_DEPTH_MAX)
        return NM_OK;

    nm_kineto_open *next = &spans->open[spans->open_count];
    nm_status status = nm_gathered_stack(spans->gathered, innermost(spans), span->frame, &next->stack, err);
    next->end_ns = span->end_ns;
    spans->open_count += status == NM_OK;
    return status;
}

nm_status nm_kineto_spans_stack(nm_kineto_spans *spans, uint32_t thread, int64_t time_ns, uint64_t *stack,
                                nm_error *err)
{
    nm_status status = NM_OK;

    if (thread != spans->thread)
        spans->open_count = 0;
    spans->thread = thread;
    for (; spans->at < spans->list.count && status == NM_OK; spans->at++) {
        const nm_kineto_span *span = &spans->list.items[spans->at];

        if (span->thread > thread || (span->thread == thread && span->begin_ns > time_ns))
            break;
        if (span->thread == thread)
            status = open_span(spans, span, err);
    }
    close_before(spans, time_ns);
    *stack = innermost(spans);
    return status;
}
