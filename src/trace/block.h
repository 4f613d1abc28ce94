/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace file: docs/trace-format.md says it byte for byte; this is its implementation. A trace is a row of blocks.
 * A block is a skippable frame with a checksummed header, then a zstd frame whose content begins with the same header,
 * then definitions, then the events as columns.
 *
 * Writing (the drain; a test):
 *
 *     nm_trace_writer *writer;
 *     nm_trace_writer_new(&session, &writer, err);
 *     nm_trace_writer_define(writer, &definition, err);     as things appear
 *     nm_trace_writer_event(writer, &event, err);           in order; event.seq is given by the writer
 *     nm_trace_writer_position(writer, thread, first, last) the ring slots that this block takes from a thread
 *     nm_trace_writer_seal(writer, 0, &bytes, err);         gives the whole block to append to the file
 *     ... NM_BLOCK_FINAL with the last one, which may be empty
 *     nm_trace_writer_free(writer);
 *
 * Reading by block, from bytes in memory that the caller brings (a mapped file, or a window that moves over a pipe):
 *
 *     nm_block_read_header(bytes, &header, err)        is there a block here, and how long is it?
 *     nm_block_reader_open(reader, bytes, &header, err) checks and decodes it
 *     nm_block_reader_next(reader, &record, err)        its definitions, then its events; NM_END
 *     at += header.block_bytes                          or, where no whole block is: at = nm_block_search(bytes, at + 1)
 *
 * source/trace_source.c does all this for a whole trace, and says what was lost.
 */
#ifndef NM_TRACE_BLOCK_H
#define NM_TRACE_BLOCK_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "trace/event.h"

#define NM_TRACE_VERSION_MAJOR    1 /* another one is refused */
#define NM_TRACE_VERSION_MINOR    5 /* a newer one is read, and what is unknown in it is skipped */

#define NM_BLOCK_MAGIC            0x184D2A5Eu /* of the skippable frame; zstd reserves 0x184D2A50 to 5F */
#define NM_BLOCK_SIGNATURE        "NPUMEMB1"  /* first 8 bytes of the skippable frame's content */
#define NM_BLOCK_HEADER_BYTES_MAX (4u << 20)  /* the content of the skippable frame */
#define NM_BLOCK_RAW_BYTES_MAX    (64u << 20) /* of the data frame's content; a reader refuses more before it allocates */
#define NM_BLOCK_EVENTS_MAX       (1u << 20)

/*
 * What a file may claim in proportion to what it holds. A recording takes 2 to 3 bytes an event and packs its content 10
 * to 20 times; time alone is never so regular that these are reached. The first number is free for a short file.
 */
#define NM_TRACE_EVENTS_FREE      (UINT64_C(1) << 18)
#define NM_TRACE_EVENTS_A_BYTE    32
#define NM_TRACE_RAW_FREE         (UINT64_C(16) << 20) /* of the data frames' contents together */
#define NM_TRACE_RAW_A_BYTE       256
#define NM_TRACE_VAIN_FREE        (UINT64_C(128) << 20) /* of bytes read for blocks that were none */
#define NM_TRACE_VAIN_A_BYTE      2
#define NM_TRACE_SEARCH_BYTES                                                                                          \
    (UINT64_C(128) << 20) /* a file without a header so far is no trace: two blocks fit in it */
#define NM_BLOCK_WINDOW                                                                                                \
    16 /* a block may use definitions of its group: those since the last block whose index is a multiple of it */
#define NM_BLOCK_COPIES 2 /* so many blocks of a group that use a definition hold it: one of them may be damaged */

enum {                         /* nm_block_header.flags */
       NM_BLOCK_FINAL = 1,     /* the recorder ended as it should: nothing follows */
       NM_BLOCK_RECOVERED = 2, /* made from the rings of a dead recording */
       NM_BLOCK_PART = 4, /* a part begins: this block and the next ones with NM_BLOCK_KEYFRAME say what was before */
       NM_BLOCK_KEYFRAME = 8,
};

/* What a reader must know of a recording; stands in every block, so that any one is enough. */
typedef struct nm_session {
    uint8_t trace_id[16];      /* random; blocks of another recording are refused */
    int64_t start_realtime_ns; /* wall clock of time 0 */
    char ring_folder[256];     /* where the rings are, "" when there are none to be found */
    char host[256];
    char boot_id[40]; /* of the kernel, text: rings and process ids mean something only there */
    char tool_version[32];
    uint64_t stacks;      /* nm_stack_mode asked for: 0 none, 1 caller, 2 native, 3 python, 4 both */
    uint64_t stack_depth; /* frames of a stack that were asked for; 0: not known, an older version */
} nm_session;

typedef struct nm_block_range { /* ring slots of one thread that stand in a block */
    uint64_t thread_id;
    uint64_t first_position, last_position;
} nm_block_range;

/* What a ring held for a later block when this one was made: known to be lost if that ring never comes to light. */
typedef struct nm_block_pending {
    uint64_t ring_id;
    uint64_t tail_position; /* slots below it stand in the trace with this block, or have been let go */
    uint64_t read_position; /* slots below it have been read */
    uint64_t event_count;   /* in the slots between them that do not stand in the trace */
    uint64_t dropped_count; /* by the ring's thread, and not said yet by a LOSS */
} nm_block_pending;

typedef struct nm_block_header {
    uint8_t trace_id[16];
    uint32_t version_minor;
    uint32_t flags;
    uint64_t block_index; /* from 0 */
    uint64_t first_seq;   /* of the first event; with event_count it tells how many a lost block held */
    uint32_t event_count;
    int64_t first_ns, last_ns; /* smallest and largest stamp, NM_NO_TIME when there is none */
    uint32_t raw_bytes;        /* of the data frame's content */
    uint32_t frame_bytes;      /* of the data frame */
    uint64_t frame_checksum;   /* XXH64 of the data frame */
    uint32_t range_count;
    nm_bytes ranges; /* borrowed: range_count ranges of 24 bytes; see nm_block_range_at */

    uint64_t offset;      /* where the block begins in the bytes searched */
    uint64_t block_bytes; /* skippable frame and data frame together */
    uint64_t read_bytes;  /* how much was read to find out what this is; set in any case */
} nm_block_header;

nm_block_range nm_block_range_at(const nm_block_header *header, uint32_t index);

/* ---- Writing ---- */

typedef struct nm_trace_writer nm_trace_writer;

nm_status nm_trace_writer_new(const nm_session *session, nm_trace_writer **out, nm_error *err);
void nm_trace_writer_free(nm_trace_writer *writer);

/* Goes on where an earlier recording of the same trace was cut off: the next block's index and first seq. The caller
 * defines again what it uses. */
void nm_trace_writer_resume(nm_trace_writer *writer, uint64_t block_index, uint64_t first_seq);

/*
 * Keeps the definition (copied) and writes it into the block under construction, again into the next block of the
 * group that uses it, and so into later groups (processes, threads, devices and heaps: into each block that uses them).
 * What it names must have been defined before. The same again, unchanged, is written only where it would be for its use. An alias is written once and not kept.
 */
nm_status nm_trace_writer_define(nm_trace_writer *writer, const nm_definition *definition, nm_error *err);

/* Brings every definition of the kinds (bits: 1 << nm_definition_kind) into the block under construction, unless
 * enough blocks of its group hold it already. */
nm_status nm_trace_writer_repeat(nm_trace_writer *writer, uint64_t kinds, nm_error *err);

/* Adds the event, with what it uses. NM_ERR_LIMIT: the block is full (NM_BLOCK_EVENTS_MAX, or NM_BLOCK_RAW_BYTES_MAX in
 * the worst case of compression): seal it and give the event again. Blocks of about 65,536 events compress well. */
nm_status nm_trace_writer_event(nm_trace_writer *writer, const nm_event *event, nm_error *err);

/* Adjoining ranges of one thread become one. */
nm_status nm_trace_writer_position(nm_trace_writer *writer, nm_block_range range, nm_error *err);

/* A line of the block's list of what is pending. NM_ERR_LIMIT: there is no room for it. */
nm_status nm_trace_writer_pending(nm_trace_writer *writer, const nm_block_pending *pending, nm_error *err);
uint32_t nm_trace_writer_event_count(const nm_trace_writer *writer); /* in the block under construction */
bool nm_trace_writer_has_content(const nm_trace_writer *writer);     /* events or definitions are in it */
uint64_t nm_trace_writer_seq(const nm_trace_writer *writer);         /* that the next event gets */
uint64_t nm_trace_writer_block_index(const nm_trace_writer *writer); /* of the block under construction */

/* Whoever looks on is told all that the writer takes, in order, events with their seq; what the record borrows is valid
 * during the call. One at a time; NULL: nobody. */
typedef void nm_trace_observer(void *context, const nm_record *record);
void nm_trace_writer_observe(nm_trace_writer *writer, nm_trace_observer *observer, void *context);

/* Sealing a block takes some milliseconds: `breathe` is called several times meanwhile. It may not call the writer. */
void nm_trace_writer_breathe(nm_trace_writer *writer, void (*breathe)(void *context), void *context);

/* Ends the block; *block is borrowed until the next call. The next block begins. */
nm_status nm_trace_writer_seal(nm_trace_writer *writer, uint32_t flags, nm_bytes *block, nm_error *err);

/* ---- Reading ---- */

/*
 * Reads the block header at the start of `bytes`, trusting nothing before the checksum has vouched for it.
 * NM_END: too short to hold the header (a cut). NM_ERR_FORMAT: no block header here. NM_ERR_VERSION: a newer major
 * version. header->block_bytes may be more than bytes.len: then the data frame is cut.
 */
nm_status nm_block_read_header(nm_bytes bytes, nm_block_header *header, nm_error *err);

/* The offset of the next place from `from` on that looks like a block (magic and signature), or bytes.len. */
size_t nm_block_search(nm_bytes bytes, size_t from);

/*
 * The next header that is right, from *at on, in bytes that are all there: *at is where. *vain_bytes (0 at first) is what
 * was read in vain so far. NM_END: there is none, or none in the first NM_TRACE_SEARCH_BYTES of the file, or what is there
 * only looks like headers. NM_ERR_VERSION: of a newer major version.
 */
nm_status nm_block_find(nm_bytes bytes, size_t *at, uint64_t *vain_bytes, nm_block_header *header);

typedef struct nm_block_reader nm_block_reader; /* decodes one block after another; keeps its memory */

nm_status nm_block_reader_new(nm_block_reader **out, nm_error *err);
void nm_block_reader_free(nm_block_reader *reader);

/*
 * Checks and decodes the whole block: `bytes` begins with its skippable frame. NM_ERR_FORMAT when anything is wrong; then
 * nothing of it is to be used. NM_ERR_LIMIT: the blocks that this reader has opened claim more than such a file can hold
 * (NM_TRACE_EVENTS_A_BYTE and so on); before anything is decoded.
 */
nm_status nm_block_reader_open(nm_block_reader *reader, nm_bytes bytes, const nm_block_header *header, nm_error *err);
const nm_session *nm_block_reader_session(const nm_block_reader *reader);

/* The block's list of what was pending, from the first; NM_END. Independent of nm_block_reader_next. */
nm_status nm_block_reader_next_pending(nm_block_reader *reader, nm_block_pending *out);

/* First all definitions, then all events; NM_END. Records of kinds that this version does not know are left out. */
nm_status nm_block_reader_next(nm_block_reader *reader, nm_record *out, nm_error *err);

#endif
