/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of hooks as lines; see hook_lines.h. Calls of devices and notes are left out.
 */
#include "hook_lines.h"

#include <check.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring_reader.h"

#define LINES_MAX 128
#define HEAPS_MAX 32

/* ---- Events as lines ----------------------------------------------------------------------------------------------- */

static session_fixture fixture;
static ring_reader reading;
static char lines[LINES_MAX][128];
static size_t line_count;
static bool wants_samples;
static struct {
    nm_ring_heap head;
    char name[64];
} heaps[HEAPS_MAX];

static const char *heap_text(uint64_t where)
{
    static const char *const levels[] = {"?",          "driver", "pool",     "workspace", "pinned",
                                         "registered", "host",   "physical", "imported"};
    static char text[128];
    uint64_t number = where & 0xffff;
    const nm_ring_heap *heap = &heaps[number % HEAPS_MAX].head;

    ck_assert_uint_lt(number, HEAPS_MAX);
    ck_assert_uint_eq(heap->local_id, number);
    snprintf(text, sizeof text, "%s", levels[heap->level]);
    if (heap->device != 0)
        snprintf(text + strlen(text), 32, ".%" PRIu64, heap->device - 1);
    if (heap->level == NM_LEVEL_POOL || heap->module_id != 0)
        snprintf(text + strlen(text), 80, " (%s)", heaps[number].name);
    return text;
}

__attribute__((format(printf, 1, 2))) static void add_text(const char *format, ...)
{
    char *line = lines[line_count - 1];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line + strlen(line), sizeof lines[0] - strlen(line), format, arguments);
    va_end(arguments);
}

static void add_stream(uint64_t where, uint64_t stream)
{
    if ((where >> 16 & NM_FLAG_STREAM) != 0)
        add_text(" %s 0x%" PRIx64, (where >> 16 & NM_FLAG_ASYNC) != 0 ? "async" : "stream", stream);
}

static void add_driver(uint64_t where)
{
    if ((where >> 16 & NM_FLAG_DRIVER) != 0)
        add_text(" driver");
}

static void add_sample(const reader_record *record)
{
    const nm_ring_sample *sample = (const nm_ring_sample *)record->words;
    const nm_ring_module_sample *module = (const nm_ring_module_sample *)record->words;

    if (record->kind == NM_EVENT_MEMORY_SAMPLE)
        add_text("sample %" PRIu64 " kind=%" PRIu64 " %" PRIu64 " of %" PRIu64, sample->device, sample->detail,
                 sample->free_bytes, sample->total_bytes);
    else
        add_text("sample %" PRIu64 " %.*s %" PRIu64 " peak %" PRIu64, module->device, (int)module->text_bytes,
                 reader_text(record, sizeof *module), module->size_bytes, module->total_bytes);
}

static void add_copy(const nm_ring_copy *copy)
{
    add_text("copy 0x%" PRIx64 " 0x%" PRIx64 " %" PRIu64 " of %" PRIu64 " kind=%u to %u from %u", copy->target_address,
             copy->source_address, copy->size_bytes, copy->limit_bytes, copy->kind, copy->target_device,
             copy->source_device);
    add_stream(copy->where, copy->stream);
    if (copy->error_code != 0)
        add_text(" error=%" PRId64, copy->error_code);
}

static void add_stream_call(const nm_ring_stream_call *call)
{
    add_text("call %u on %" PRIu64, call->detail, call->device);
    add_stream(call->where, call->stream);
    if (call->event != 0)
        add_text(" event 0x%" PRIx64, call->event);
    if (call->error_code != 0)
        add_text(" error=%" PRId64, call->error_code);
}

static void add_event(const reader_record *record)
{
    const nm_ring_alloc *alloc = (const nm_ring_alloc *)record->words;
    const nm_ring_alloc_failed *failed = (const nm_ring_alloc_failed *)record->words;
    const nm_ring_free *freed = (const nm_ring_free *)record->words;

    if (record->kind == NM_EVENT_ALLOC) {
        add_text("alloc %s 0x%" PRIx64 " %" PRIu64 " policy=%u", heap_text(alloc->where), alloc->address,
                 alloc->requested_bytes, alloc->policy);
        if (alloc->block_bytes != 0)
            add_text(" block=%" PRIu64, alloc->block_bytes);
        add_stream(alloc->where, alloc->stream);
    } else if (record->kind == NM_EVENT_MAP) {
        add_text("map %s 0x%" PRIx64 " %" PRIu64, heap_text(alloc->where), alloc->address, alloc->block_bytes);
        if (alloc->policy != NM_POLICY_UNKNOWN)
            add_text(" policy=%u", alloc->policy);
    } else if (record->kind == NM_EVENT_ALLOC_FAILED) {
        add_text("failed %s %" PRIu64 " error=%" PRId64, heap_text(failed->where), failed->requested_bytes,
                 failed->error_code);
    } else if (record->kind == NM_EVENT_FREE) {
        add_text("free 0x%" PRIx64 " call=%" PRIu64, freed->address, freed->detail);
        add_driver(freed->where);
        add_stream(freed->where, freed->stream);
    } else if (record->kind == NM_EVENT_FREE_FAILED) {
        add_text("not freed 0x%" PRIx64 " call=%" PRIu64 " error=%" PRId64, freed->address, freed->detail,
                 freed->error_code);
    } else if (record->kind == NM_EVENT_UNMAP) {
        add_text("unmap 0x%" PRIx64 " %" PRIu64, freed->address, freed->block_bytes);
        add_driver(freed->where);
    } else if (record->kind == NM_EVENT_EXPORT) {
        add_text("export 0x%" PRIx64 " call=%" PRIu64, freed->address, freed->detail);
    } else if (record->kind == NM_EVENT_RESET) {
        add_text("reset %" PRIu64, ((const nm_ring_number *)record->words)->device);
    } else if (record->kind == NM_EVENT_STREAM_CALL) {
        add_stream_call((const nm_ring_stream_call *)record->words);
    } else {
        ck_assert_uint_eq(record->kind, NM_EVENT_COPY);
        add_copy((const nm_ring_copy *)record->words);
    }
}

static void collect(void *context, const reader_record *record)
{
    const nm_ring_heap *heap = (const nm_ring_heap *)record->words;
    bool is_sample = record->kind == NM_EVENT_MEMORY_SAMPLE || record->kind == NM_EVENT_MODULE_SAMPLE;

    (void)context;
    if (record->kind == NM_RING_HEAP && heap->local_id < HEAPS_MAX) {
        heaps[heap->local_id].head = *heap;
        snprintf(heaps[heap->local_id].name, sizeof heaps->name, "%.*s", (int)heap->text_bytes,
                 reader_text(record, sizeof *heap));
    }
    if (record->kind >= 64 || record->kind == NM_EVENT_DEVICE_CALL || record->kind == NM_EVENT_NOTE)
        return;
    if (is_sample != wants_samples)
        return;
    ck_assert_uint_lt(line_count, LINES_MAX);
    lines[line_count++][0] = 0;
    if (is_sample)
        add_sample(record);
    else
        add_event(record);
}

/* ---- Running ------------------------------------------------------------------------------------------------------- */

void hook_lines_setup(void)
{
    line_count = 0;
    session_open(&fixture);
    reader_open(&reading, &fixture);
}

void hook_lines_teardown(void)
{
    reader_close(&reading);
    session_close(&fixture);
}

/* EMULATOR: what runs programs of a cross build, words parted by blanks. */
static void run_again(const char *name)
{
    char self[PATH_MAX] = "", command[2 * PATH_MAX];

    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        _exit(127);
    snprintf(command, sizeof command, "exec %s '%s' '%s'", EMULATOR, self, name);
    if (EMULATOR[0] != 0)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    else
        execl(self, "recorded program", name, (char *)NULL);
}

static void run_recorded(const char *name, bool has_session)
{
    int pid = fork(), status;

    if (pid == 0) {
        unsetenv(NM_RING_ENVIRONMENT);
        if (has_session)
            setenv(NM_RING_ENVIRONMENT, fixture.folder, 1);
        run_again(name);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

void hook_lines_check_samples(const char *name, const char *const *expected)
{
    wants_samples = true;
    hook_lines_check(name, expected);
    wants_samples = false;
}

void hook_lines_check(const char *name, const char *const *expected)
{
    size_t i = 0;

    run_recorded(name, false);
    run_recorded(name, true);
    reader_poll(&reading, collect, NULL);
    for (; expected[i] != NULL && i < line_count; i++)
        ck_assert_str_eq(lines[i], expected[i]);
    ck_assert_uint_eq(i, line_count);
    ck_assert_ptr_null(expected[i]);
}
