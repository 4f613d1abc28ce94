/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace file while it is written: it always ends with a whole block. When the disk is full, the block that did not
 * fit is kept and tried again now and then; nothing is appended behind it before it is there. Where the file system can,
 * a little room behind the end is kept in reserve, so that a full disk leaves some for a note on what is missing.
 *
 * Into a pipe, a FIFO or a terminal goes only what its reader takes at once; the rest waits here and is pushed on later:
 * no call ever waits for a reader.
 */
#ifndef NM_DRAIN_OUTPUT_H
#define NM_DRAIN_OUTPUT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/bytes.h"

#define NM_OUTPUT_RESERVE_BYTES 4096 /* a note is never longer */

typedef struct nm_output {
    int fd;              /* borrowed */
    bool can_cut;        /* a regular file: a part of a block can be taken back */
    bool has_reserve;    /* and room behind the end can be kept */
    bool awaits_reader;  /* set by the owner: a FIFO that nobody has opened yet, as far as is known */
    uint64_t good_bytes; /* whole blocks written */
    uint64_t note_bytes; /* the note behind them, until the block that is missing is there; 0: none */
    bool is_stuck;       /* a write failed */
    bool is_waiting;     /* a reader takes nothing for the moment */
    nm_buffer held;      /* then, in both cases: what is to be written next */
    size_t held_at;      /* bytes of it that a reader has taken already */
    int64_t retry_at_ns; /* CLOCK_MONOTONIC */
} nm_output;

/* The file's offset is where the next block belongs. */
void nm_output_init(nm_output *output, int fd);

/* Gives the reserve back. */
void nm_output_fini(nm_output *output);

/* Appends a block. A failure is given back once; then the output is stuck, with a copy of the block. NM_OK and is_waiting:
 * a reader has not taken all of it yet. */
nm_status nm_output_append(nm_output *output, nm_bytes block, nm_error *err);

/* Gives the reader as much of what waits as it takes. A failure makes the output stuck. */
nm_status nm_output_push(nm_output *output, nm_error *err);

/* The reader is not waited for any longer: stuck. */
void nm_output_give_up(nm_output *output);

/* Tries again when it is time to, or at once when `is_last_try`. True: it is not stuck any more. */
bool nm_output_retry(nm_output *output, bool is_last_try);

/* While a file is stuck: puts `note` (a whole block) where the block belongs that is missing, instead of an earlier note.
 * False: there is no room for it, or it is no file. */
bool nm_output_note(nm_output *output, nm_bytes note);

/* The block that is missing will never come: the note is part of the file. */
void nm_output_keep_note(nm_output *output);

/*
 * Marks the open file as that of one recording, until the description is closed: with the recorder's death at the latest,
 * and never by a program that it starts (O_CLOEXEC). NM_ERR_BUSY: another one has it. Where files cannot be locked: NM_OK.
 */
nm_status nm_output_claim(int fd, nm_error *err);

/* Has another open file claimed this one? `fd` may be opened for reading alone. Where files cannot be locked: no. */
bool nm_output_is_claimed(int fd);

/* Makes the file, claimed. NM_ERR_EXISTS: something is there, be it a link that leads nowhere. */
nm_status nm_output_create(const char *path, int *fd, nm_error *err);
nm_status nm_output_create_at(int folder, const char *name, int *fd, nm_error *err);

#endif
