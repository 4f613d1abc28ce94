/* SPDX-License-Identifier: Apache-2.0 */
#include "support/snapshot_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void print(source_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print(source_log *log, const char *format, ...)
{
    char line[512];
    va_list arguments;
    int len;

    va_start(arguments, format);
    len = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (len < 0 || len >= (int)sizeof line || nm_buffer_append(&log->text, line, (size_t)len, NULL) != NM_OK)
        abort();
}

static const char *text_of(const source_log *log, uint64_t number)
{
    if (number == 0)
        return "-";
    return number < sizeof log->strings / sizeof log->strings[0] && log->strings[number] != NULL ? log->strings[number]
                                                                                                 : "(undefined)";
}

const nm_definition *source_log_find(const source_log *log, nm_definition_kind kind, uint64_t id)
{
    for (size_t i = 0; i < log->definitions.count; i++)
        if (log->definitions.items[i].kind == kind && log->definitions.items[i].id == id)
            return &log->definitions.items[i];
    return NULL;
}

static void print_stack(source_log *log, uint64_t stack_id)
{
    print(log, " stack=");
    while (stack_id != 0) {
        const nm_definition *stack = source_log_find(log, NM_DEFINE_STACK, stack_id);
        const nm_definition *frame =
            stack == NULL ? NULL : source_log_find(log, NM_DEFINE_FRAME, stack->stack.frame_id);

        if (frame == NULL) {
            print(log, "(undefined)");
            return;
        }
        print(log, "%s:%" PRIu64, text_of(log, frame->frame.function), frame->frame.line);
        stack_id = stack->stack.parent_id;
        if (stack_id != 0)
            print(log, "<");
    }
}

static const char *kind_name(uint64_t kind)
{
    switch (kind) {
    case NM_EVENT_ALLOC:
        return "alloc";
    case NM_EVENT_FREE:
        return "free";
    case NM_EVENT_FREE_REQUESTED:
        return "free_requested";
    case NM_EVENT_RESERVED:
        return "reserved";
    case NM_EVENT_ALLOC_FAILED:
        return "alloc_failed";
    case NM_EVENT_MAP:
        return "map";
    case NM_EVENT_UNMAP:
        return "unmap";
    case NM_EVENT_MARK:
        return "mark";
    case NM_EVENT_RANGE_BEGIN:
        return "begin";
    case NM_EVENT_RANGE_END:
        return "end";
    case NM_EVENT_NOTE:
        return "note";
    case NM_EVENT_STATE_SEGMENT:
        return "segment";
    case NM_EVENT_STATE_BLOCK:
        return "block";
    default:
        return "?";
    }
}

static void print_number(source_log *log, const char *name, uint64_t value)
{
    if (value != 0)
        print(log, " %s=%" PRIu64, name, value);
}

static void print_event(source_log *log, const nm_event *event)
{
    if ((event->flags & NM_FLAG_BASELINE) != 0)
        print(log, "base");
    else if (event->kind == NM_EVENT_STATE_SEGMENT || event->kind == NM_EVENT_STATE_BLOCK)
        print(log, "end");
    else
        print(log, "%" PRIu64, event->seq);
    print(log, " %s", kind_name(event->kind));
    print_number(log, "heap", event->heap_id);
    if (event->address != 0)
        print(log, " at=0x%" PRIx64, event->address);
    print_number(log, "requested", event->requested_bytes);
    print_number(log, "block", event->block_bytes);
    print_number(log, "occupied", event->size_bytes);
    if (event->stack_id != 0)
        print_stack(log, event->stack_id);
    if ((event->flags & NM_FLAG_STREAM) != 0)
        print(log, " stream=%" PRIu64, event->stream);
    if (event->policy != NM_POLICY_UNKNOWN)
        print_number(log, "pool", event->policy);
    if (event->time_ns != NM_NO_TIME)
        print(log, " t=%" PRId64, event->time_ns);
    print_number(log, "free", event->free_bytes);
    print_number(log, "error", (uint64_t)event->error_code);
    print_number(log, "number", (uint64_t)event->number);
    if (event->name_id != 0)
        print(log, " name=%s", text_of(log, event->name_id));
    print(log, "%s%s%s\n", (event->flags & NM_FLAG_SEGMENT) != 0 ? " SEGMENT" : "",
          (event->flags & NM_FLAG_IDLE) != 0 ? " IDLE" : "", (event->flags & NM_FLAG_PENDING) != 0 ? " PENDING" : "");
}

static void keep_definition(source_log *log, const nm_definition *definition)
{
    if (definition->kind == NM_DEFINE_STRING) {
        if (definition->id < sizeof log->strings / sizeof log->strings[0]) {
            free(log->strings[definition->id]);
            log->strings[definition->id] = strndup((const char *)definition->string.data, definition->string.len);
        }
        return;
    }
    if (nm_array_grow(&log->definitions.items, &log->definitions.capacity, log->definitions.count + 1,
                      sizeof *log->definitions.items, NULL) != NM_OK)
        abort();
    log->definitions.items[log->definitions.count++] = *definition;
}

static void keep_event(source_log *log, const nm_event *event)
{
    if (nm_array_grow(&log->events.items, &log->events.capacity, log->events.count + 1, sizeof *log->events.items,
                      NULL) != NM_OK)
        abort();
    log->events.items[log->events.count++] = *event;
    print_event(log, event);
}

void source_log_read(source_log *log, int fd)
{
    nm_source *source;
    nm_record record;

    *log = (source_log){.err = {.offset = NM_NO_OFFSET}};
    log->status = nm_source_open(fd, &source, &log->err);
    if (log->status == NM_OK) {
        while ((log->status = nm_source_next(source, &record, &log->err)) == NM_OK) {
            if (record.kind == NM_RECORD_DEFINITION)
                keep_definition(log, &record.definition);
            else
                keep_event(log, &record.event);
        }
        nm_source_summary(source, &log->summary);
        nm_source_close(source);
    }
    if (nm_buffer_append(&log->text, "", 1, NULL) != NM_OK)
        abort();
}

void source_log_read_bytes(source_log *log, const void *bytes, size_t len)
{
    int fd = memfd_create("snapshot", MFD_CLOEXEC);

    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    source_log_read(log, fd);
    close(fd);
}

void source_log_free(source_log *log)
{
    for (size_t i = 0; i < sizeof log->strings / sizeof log->strings[0]; i++)
        free(log->strings[i]);
    free(log->definitions.items);
    free(log->events.items);
    nm_buffer_free(&log->text);
    *log = (source_log){0};
}
