/* SPDX-License-Identifier: Apache-2.0
 *
 * Each answer is made between two passes of the drain, by the thread that owns all it tells of: nothing here is locked, and
 * nothing may wait longer than RECORDING_CATCH_UP_NS_MAX for events that are on their way.
 */
#include "tool/record/commands.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "say/names.h"

static nm_status append(nm_buffer *out, nm_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));

static nm_status append(nm_buffer *out, nm_error *err, const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    int len = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return nm_buffer_append(out, text, len < (int)sizeof text ? (size_t)len : sizeof text - 1, err);
}

static nm_status append_quoted(nm_buffer *out, nm_bytes text, nm_error *err)
{
    nm_status status = append(out, err, "\"");
    size_t bytes;

    for (size_t at = 0; at < text.len && status == NM_OK; at += bytes) {
        const char *here = (const char *)text.data + at;
        char escaped[NM_SHOWN_ESCAPE_BYTES];
        uint32_t character;

        bytes = nm_shown_next(here, text.len - at, &character);
        status = nm_buffer_append(out, escaped, nm_shown_escape(escaped, character, here, bytes), err);
    }
    return status == NM_OK ? append(out, err, "\"") : status;
}

/* ---- Marks --------------------------------------------------------------------------------------------------------- */

/* A mark, and everything up to now in the file: the trace may be ingested while it is written, and is for --report. */
static nm_status snapshot(recording *work, const char *text, nm_error *err)
{
    nm_status status = recording_mark(work, text[0] != 0 ? text : "snapshot", err);

    record_answers_ask(&work->answers);
    return status == NM_OK ? nm_drain_flush(work->drain, RECORDING_CATCH_UP_NS_MAX, err) : status;
}

/* ---- Figures ------------------------------------------------------------------------------------------------------- */

typedef struct newest_process { /* of those with a pid: an exec makes a new one, and so may the kernel */
    int64_t pid;
    uint64_t id; /* 0: there is none */
} newest_process;

static void find_newest(void *context, const nm_definition *definition)
{
    newest_process *newest = context;

    if (definition->kind == NM_DEFINE_PROCESS && definition->process.pid == newest->pid && definition->id > newest->id)
        newest->id = definition->id;
}

typedef struct heap_list {
    bool is_of_one;
    uint64_t process_id; /* then: only its heaps */
    nm_buffer *out;
    nm_error *err;
    nm_status status;
    bool has_one;
} heap_list;

static void append_heap(void *context, const nm_watch_heap *heap)
{
    heap_list *list = context;
    const nm_heap_gauge *now = &heap->now;

    if (list->is_of_one && now->process_id != list->process_id)
        return;
    if (list->status == NM_OK)
        list->status =
            append(list->out, list->err, "%s{\"pid\":%" PRId64 ",\"device\":", list->has_one ? "," : "", heap->pid);
    if (list->status == NM_OK)
        list->status = heap->device_number == NM_UNKNOWN_NUMBER
                           ? append(list->out, list->err, "null")
                           : append(list->out, list->err, "%" PRId64, heap->device_number);
    if (list->status == NM_OK)
        list->status = append(list->out, list->err, ",\"level\":\"%s\",\"heap\":", nm_heap_level_name(now->level));
    if (list->status == NM_OK)
        list->status = append_quoted(list->out, heap->name, list->err);
    if (list->status == NM_OK)
        list->status =
            append(list->out, list->err,
                   ",\"live_bytes\":%" PRIu64 ",\"live_count\":%" PRIu64 ",\"peak_bytes\":%" PRIu64
                   ",\"allocation_count\":%" PRIu64 ",\"free_count\":%" PRIu64 ",\"reserved_bytes\":%" PRIu64 "}",
                   now->live_bytes, now->live_count, now->peak_bytes, now->allocation_count, now->free_count,
                   now->reserved_bytes);
    list->has_one = true;
}

static nm_status append_status(recording *work, nm_buffer *reply, nm_error *err)
{
    nm_drain_report report;

    nm_drain_tell(work->drain, &report);
    return append(reply, err,
                  "\"events\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"processes\":%" PRIu64,
                  report.event_count, report.dropped_count, report.file_bytes, report.process_count);
}

static nm_status answer_status(recording *work, nm_buffer *reply, nm_error *err)
{
    nm_status status = append(reply, err, "{");

    if (status == NM_OK)
        status = append_status(work, reply, err);
    return status == NM_OK ? append(reply, err, "}\n") : status;
}

/* "": every process; "PID": the newest one of that number. */
static nm_status choose_heaps(recording *work, const char *argument, heap_list *list, nm_error *err)
{
    newest_process newest = {0};
    char *end;

    if (argument[0] == 0)
        return NM_OK;
    newest.pid = strtoll(argument, &end, 10);
    if (*end != 0 || newest.pid <= 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "stats takes a process id, or nothing");
    nm_watch_definitions(work->watch, find_newest, &newest);
    list->is_of_one = true;
    list->process_id = newest.id;
    return NM_OK;
}

static nm_status answer_stats(recording *work, const char *argument, nm_buffer *reply, nm_error *err)
{
    heap_list list = {.out = reply, .err = err};
    nm_status status;

    if (work->watch == NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "figures are kept only by npumem-record --watch");
    status = nm_drain_catch_up(work->drain, RECORDING_CATCH_UP_NS_MAX, err);
    if (status == NM_OK && nm_watch_has_failed(work->watch))
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "the watch ran out of memory");
    if (status == NM_OK)
        status = choose_heaps(work, argument, &list, err);
    if (status == NM_OK)
        status = append(reply, err, "{");
    if (status == NM_OK)
        status = append_status(work, reply, err);
    if (status == NM_OK)
        status = append(reply, err, ",\"heaps\":[");
    if (status != NM_OK)
        return status;
    nm_watch_heaps(work->watch, append_heap, &list);
    return list.status == NM_OK ? append(reply, err, "]}\n") : list.status;
}

nm_status record_commands_answer(void *context, const char *command, const char *argument, nm_buffer *reply,
                                 nm_error *err)
{
    recording *work = context;

    if (work->has_failed)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the recording has failed");
    if (strcmp(command, "mark") == 0)
        return argument[0] != 0 ? recording_mark(work, argument, err)
                                : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "mark needs a text");
    if (strcmp(command, "start") == 0 || strcmp(command, "stop") == 0)
        return recording_pause(work, command[2] == 'o', err);
    if (strcmp(command, "snapshot") == 0)
        return snapshot(work, argument, err);
    if (strcmp(command, "stats") == 0)
        return answer_stats(work, argument, reply, err);
    if (strcmp(command, "status") == 0)
        return answer_status(work, reply, err);
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "no such command: %.100s", command);
}
