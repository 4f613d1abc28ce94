/* SPDX-License-Identifier: Apache-2.0
 *
 * A progress line on standard error, only where that is a terminal and only once the work has taken a second; or lines for
 * another program that started this one, "progress 40" (per cent of what is to be read) and "progress looking for steps".
 */
#ifndef NM_TOOL_COMMON_PROGRESS_H
#define NM_TOOL_COMMON_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Where one process tells another how far it is. */
typedef struct nm_progress_slot {
    _Atomic uint64_t done_bytes, event_count;
} nm_progress_slot;

typedef enum nm_progress_form { NM_PROGRESS_NONE, NM_PROGRESS_LINE, NM_PROGRESS_LINES } nm_progress_form;

typedef struct nm_progress {
    nm_progress_form form; /* a line: standard error is a terminal */
    bool has_line;         /* something stands on the line */
    uint64_t total_bytes;  /* 0: unknown */
    int64_t begin_ns;
    int64_t next_ns;        /* when to write again */
    nm_progress_slot *slot; /* who has one writes nothing; or NULL */
} nm_progress;

void nm_progress_begin(nm_progress *progress, nm_progress_form form, uint64_t total_bytes);

/* Cheap enough for every few thousand events. */
void nm_progress_update(nm_progress *progress, uint64_t done_bytes, uint64_t event_count);

/* Work that is counted in something else, and what it is. */
void nm_progress_part(nm_progress *progress, uint64_t done, uint64_t total, const char *what);

/* A step without a measure, e.g. "making indexes". */
void nm_progress_say(nm_progress *progress, const char *what);

void nm_progress_end(nm_progress *progress); /* wipes the line */

/*
 * Shows what another program says of itself in such lines, "progress 40", until their end: as a bar before `what`. Other lines of it go to
 * standard error if `passes_others`. Takes the descriptor.
 */
nm_status nm_progress_follow(int lines, const char *what, bool passes_others, nm_error *err);

#endif
