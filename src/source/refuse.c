/* SPDX-License-Identifier: Apache-2.0
 *
 * What is compressed is looked at as it is inside, within fixed bounds. Of databases store/validate.c knows some.
 */
#include "source/refuse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/buffer.h"
#include "base/io.h"
#include "base/spoken.h"
#include "source/input.h"

typedef enum form_kind { FORM_SQLITE, FORM_TEXT, FORM_BINARY } form_kind;

#define RECORD   ", which is not read; record the program (npumem record)"
#define SNAPSHOT ", which is not read; give a memory snapshot of the program (_dump_snapshot)"
#define OF_CUDA  ", which is not read; of a program on CUDA or ROCm give a memory snapshot (_dump_snapshot)"
#define HOST     ": host memory; "

/* The first row whose texts are all there is what it is; `begins` is at the very beginning ("": whatever is). Behind "this is ". */
static const struct {
    form_kind form;
    const char *begins, *has[2], *text;
} kinds[] = {
    /* clang-format off */
    {FORM_SQLITE, "", {NULL}, "an SQLite database; if npumem-ingest wrote it, open it with sqlite3"},
    {FORM_TEXT, "Record Index,Timestamp(", {NULL}, "a dump of msLeaks of 2024" RECORD},
    {FORM_TEXT, "", {"Allocated Memory(byte)", "Diff Memory(byte)"}, "a memory_compare of msMemScope, which says nothing of a run; give its dumps"},
    {FORM_TEXT, "", {"Allocated Memory(Byte)", "Diff Memory(Byte)"}, "a memory_compare of msMemScope, which says nothing of a run; give its dumps"},
    {FORM_TEXT, "FuncInfo,StartTime(ns)", {NULL}, "a python_trace of msMemScope, which holds no memory; stacks are in its dumps (--call-stack=python)"},
    {FORM_TEXT, "Thread,Time,Action,Pointer,Size,Stream", {NULL}, "a log of RMM" OF_CUDA},
    {FORM_TEXT, "", {"[A][Stream ", "[Upstream "}, "a debug log of RMM" OF_CUDA},
    {FORM_TEXT, "time_stamp,task_name,node_name,", {NULL}, "task.csv of MindSpore, which holds no memory; give its memory_block.csv"},
    {FORM_TEXT, "", {"\"hloModule\""}, "a module of XLA for a memory viewer, which says nothing of a run"},
    {FORM_TEXT, "", {"\"traceEvents\""}, "a trace of torch.profiler, which is read plain or as a gzip file"},
    {FORM_TEXT, "[{\"", {"\"ph\":"}, "trace_view.json or another trace in Chrome's form, which holds no memory; give the folder that it is in, or a memory snapshot (_dump_snapshot)"},
    {FORM_TEXT, "[[-1,", {NULL}, "a memory timeline of torch.profiler" SNAPSHOT},
    {FORM_TEXT, "v ", {"\nX "}, "a recording of heaptrack" HOST "heaptrack_print opens it"},
    {FORM_BINARY, "memray", {NULL}, "a recording of memray" HOST "memray flamegraph opens it"},
    {FORM_BINARY, "\x7f" "ELF", {NULL}, "a program or a library, not a trace or a memory snapshot"},
    {FORM_BINARY, "PK\x03\x04", {NULL}, "a zip archive (torch.save writes those), not a trace or a memory snapshot"},
    /* clang-format on */
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* As those, where what is compressed is nothing of them. */
static const struct {
    const char *begins, *text;
} packed[] = {
    {"\x28\xb5\x2f\xfd", "a zstd file, but not a trace that npumem-record wrote"},
    {"\x1f\x8b", "a gzip file; decompress it first"},
    {"\xfd\x37\x7a\x58\x5a", "an xz file; decompress it first"},
    {"BZh", "a bzip2 file; decompress it first"},
};

static bool begins_with(nm_bytes bytes, const char *text)
{
    return bytes.len >= strlen(text) && memcmp(bytes.data, text, strlen(text)) == 0;
}

static form_kind form_of(nm_bytes bytes)
{
    if (begins_with(bytes, "SQLite format 3"))
        return FORM_SQLITE;
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.data[i] < 0x80 && !isprint(bytes.data[i]) && !isspace(bytes.data[i]))
            return FORM_BINARY;
    return FORM_TEXT;
}

/* Which of the table; KIND_COUNT: none. */
static size_t kind_of(nm_bytes bytes)
{
    form_kind form = form_of(bytes);

    if (form == FORM_TEXT && begins_with(bytes, "\xef\xbb\xbf")) /* a mark that spreadsheets put in front */
        bytes = (nm_bytes){bytes.data + 3, bytes.len - 3};
    for (size_t i = 0; i < KIND_COUNT; i++) {
        bool is_it = kinds[i].form == form && begins_with(bytes, kinds[i].begins);

        for (size_t k = 0; is_it && k < 2 && kinds[i].has[k] != NULL; k++)
            is_it = memmem(bytes.data, bytes.len, kinds[i].has[k], strlen(kinds[i].has[k])) != NULL;
        if (is_it)
            return i;
    }
    return KIND_COUNT;
}

/* Is it of somebody, and not just of a form? */
static bool is_named(size_t kind)
{
    return kind < KIND_COUNT && (kinds[kind].begins[0] != 0 || kinds[kind].has[0] != NULL);
}

bool nm_source_is_named(nm_bytes head)
{
    return is_named(kind_of(head));
}

static size_t look_into_zstd(nm_bytes bytes, uint8_t *out, size_t size)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {bytes.data, bytes.len, 0};
    ZSTD_outBuffer to = {out, size, 0};

    while (stream != NULL && in.pos < in.size && to.pos < to.size &&
           !ZSTD_isError(ZSTD_decompressStream(stream, &to, &in)) && in.pos < in.size && to.pos < to.size)
        continue;
    ZSTD_freeDStream(stream);
    return to.pos;
}

/* A profile of pprof is gzip around messages of protobuf, the first of which is a type of sample. */
static bool is_pprof(nm_bytes inner)
{
    return inner.len > 4 && inner.data[0] == 0x0a && inner.data[1] == 4 && inner.data[2] == 0x08;
}

static nm_status say(const char *text, nm_error *err)
{
    return nm_fail(err, NM_ERR_FORMAT, 0, "this is %s", nm_spoken(text));
}

static nm_status refuse_packed(nm_bytes bytes, const char *text, nm_error *err)
{
    nm_buffer inner = {0};
    bool is_gzip = nm_input_is_gzip(bytes), is_zstd = bytes.data[0] == 0x28;

    if ((is_gzip || is_zstd) && nm_buffer_reserve(&inner, NM_INPUT_LOOK_BYTES_MAX, NULL) == NM_OK)
        inner.len = (is_gzip ? nm_input_look_into_gzip : look_into_zstd)(bytes, inner.data, NM_INPUT_LOOK_BYTES_MAX);
    nm_bytes seen = {inner.data, inner.len};
    size_t kind = seen.len > 0 && form_of(seen) == FORM_TEXT ? kind_of(seen) : KIND_COUNT;
    if (is_named(kind))
        text = kinds[kind].text;
    else if (is_gzip && is_pprof(seen))
        text = "a profile of pprof (JAX writes those of device memory), which is not read";
    nm_buffer_free(&inner);
    return say(text, err);
}

static nm_status refuse_bytes(nm_bytes bytes, nm_error *err)
{
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        if (begins_with(bytes, packed[i].begins))
            return refuse_packed(bytes, packed[i].text, err);
    size_t kind = kind_of(bytes);

    return kind < KIND_COUNT ? say(kinds[kind].text, err)
                             : nm_fail(err, NM_ERR_FORMAT, 0, "neither a trace nor a memory snapshot begins like this");
}

nm_status nm_source_refuse(int fd, nm_bytes head, nm_error *err)
{
    nm_buffer more = {0};
    struct stat info;
    size_t got = 0;

    if (head.len == 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "the file is empty");
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        nm_buffer_reserve(&more, NM_INPUT_LOOK_BYTES_MAX, NULL) != NM_OK)
        return refuse_bytes(head, err);
    memcpy(more.data, head.data, head.len);
    if (nm_io_read(fd, more.data + head.len, NM_INPUT_LOOK_BYTES_MAX - head.len, &got, NULL) != NM_OK)
        got = 0;
    nm_status status = refuse_bytes((nm_bytes){more.data, head.len + got}, err);
    nm_buffer_free(&more);
    return status;
}
