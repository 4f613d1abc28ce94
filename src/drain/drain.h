/* SPDX-License-Identifier: Apache-2.0
 *
 * The drain of a recording: rings -> ordered blocks -> file, and the end of it all. One thread calls it.
 *
 *     nm_folder_create(path, &folder_options, &folder, err);
 *     nm_drain_new(&(nm_drain_options){.folder = &folder, .fd = fd}, &drain, err);     before the program starts
 *     while (...)
 *         nm_drain_pass(drain, &pause_ns, err), sleep pause_ns;
 *     nm_drain_finish(drain, err);
 *     nm_drain_free(drain);
 */
#ifndef NM_DRAIN_DRAIN_H
#define NM_DRAIN_DRAIN_H

#include "drain/folder.h"
#include "drain/namer.h"
#include "drain/pause.h"
#include "trace/block.h"

typedef struct nm_drain nm_drain;

/* A recording that is kept in parts: parts.h. */
typedef struct nm_drain_keep {
    const char *name; /* of the parts, without their number; the first one is options.fd; NULL: one file */
    uint64_t bytes_max, steps_max;
    /* Writes what a part begins with, by nm_drain_repeat. NM_END: there is nobody who knows. */
    nm_status (*keyframe)(void *context, nm_drain *drain, nm_error *err);
    uint64_t (*step_count)(void *context); /* steps that the process with the most has begun */
    void *context;
} nm_drain_keep;

typedef struct nm_drain_options {
    nm_folder *folder;     /* borrowed; the drain starts its clock */
    int fd;                /* borrowed; blocks are appended at its offset */
    const nm_namer *namer; /* borrowed, or NULL */
    void (*warn)(void *context, const char *line);
    void *warn_context;
    nm_trace_observer *observer; /* is told all that goes into the trace, as it goes; or NULL */
    void *observer_context;
    const nm_pauser *pauser; /* borrowed: who keeps the live set, so that nothing is written while paused; or NULL */
    nm_drain_keep keep;
    const char *path;      /* borrowed: of the file (or the parts) when it is new; or NULL */
    int64_t sync_ns;       /* between two syncs of the file, by a thread of their own; 0: none */
    bool awaits_reader;    /* fd may be a FIFO that nobody reads yet */
    int64_t reader_ns_max; /* then: how long nm_drain_finish waits for somebody */
    /* How long nm_drain_finish waits for a reader that has stopped reading, as things stand; asked again and again. NULL:
     * for ever. */
    int64_t (*patience_ns)(void *context);
    void *patience_context;
    bool is_recoverable;   /* the trace is a file: it names the folder, for nm_recover_rings */
    bool ends_when_said;   /* npumem_start: a process that says its end is done, though it runs on */
    int64_t naming_ns_max; /* how long nm_drain_finish waits for names */
    int64_t sample_ns;     /* between two looks at the processes' host memory; 0: never */
    int64_t block_age_ns;  /* a record waits at most so long for its block to be written; 0: half a second */
} nm_drain_options;

typedef struct nm_drain_report {
    uint64_t event_count;      /* in the file */
    uint64_t dropped_count;    /* said in the file */
    uint64_t unwritten_count;  /* neither: the file could not be written */
    uint64_t late_count;       /* of event_count, after younger ones */
    uint64_t unreadable_count; /* claimed slots of killed threads */
    uint64_t process_count;
    uint64_t left_count;     /* of these, became a program that does not load the recorder */
    uint64_t unjoined_count; /* beside these, loaded the recorder and could not join */
    uint64_t unseen_count; /* beside these, used a device and did not load the recorder, or not so that it could join */
    bool is_folder_gone;   /* at the end, so that nobody knows of others */
    uint64_t file_bytes;   /* of all parts that are there */
    uint64_t part_count;   /* of these; 0: one file */
    size_t names_missing;  /* names that were still being looked for */
} nm_drain_report;

/* Fills in the session's clock (about 10 ms) and makes it ready for programs. */
nm_status nm_drain_new(const nm_drain_options *options, nm_drain **out, nm_error *err);
void nm_drain_free(nm_drain *drain);

/* One look at everything. *pause_ns: how long to wait before the next one. A failure is of memory, and final. While a pipe's
 * reader takes nothing it looks at nothing: what is recorded stays in the rings. */
nm_status nm_drain_pass(nm_drain *drain, int64_t *pause_ns, nm_error *err);

/* Passes until all that was recorded before the call has gone into the trace, so that the observer has seen it; gives up
 * after `wait_ns_max`, for then a thread stands still in the middle of an event. */
nm_status nm_drain_catch_up(nm_drain *drain, int64_t wait_ns_max, nm_error *err);

/* Puts an event of the recorder's own into the stream, behind what happened before now; its time is filled here. */
nm_status nm_drain_post(nm_drain *drain, const nm_event *event, nm_error *err);

/* Pauses all processes, or ends that pause; a process may be paused for reasons of its own too. */
nm_status nm_drain_pause(nm_drain *drain, bool is_paused, nm_error *err);

/* Recorded processes that are paused now, for whatever reason; and whether there is one that is not. */
size_t nm_drain_paused_count(const nm_drain *drain);
bool nm_drain_is_recording_in_full(const nm_drain *drain);

/* The number of a text, for events that are posted. */
nm_status nm_drain_text(nm_drain *drain, nm_bytes text, uint64_t *id, nm_error *err);

/* Says of a process what was set or installed (nm_attribute_source). */
nm_status nm_drain_attribute(nm_drain *drain, uint64_t process_id, uint64_t source, const char *name, const char *value,
                             nm_error *err);

/* As nm_drain_catch_up; then all of that, and all that was posted before, is in the file: the block under construction is
 * ended. */
nm_status nm_drain_flush(nm_drain *drain, int64_t wait_ns_max, nm_error *err);

/* Of nm_drain_keep.keyframe: an event that says again what was before (nm_event_is_repeat). */
nm_status nm_drain_repeat(nm_drain *drain, const nm_event *event, nm_error *err);

/* A step has begun, by the event that the observer is being told: a part may begin behind it. */
void nm_drain_step(nm_drain *drain);

/* A child of ours has ended, as wait4 says; `peak_bytes` is what it had of host memory at most, 0: unknown. */
void nm_drain_reaped(nm_drain *drain, int64_t pid, int wait_status, uint64_t peak_bytes);

/* The program has ended: from here on the drain looks closer at what is still to be waited for. */
void nm_drain_linger(nm_drain *drain);

/* Recorded processes that run, or whose end is not in the stream yet. */
size_t nm_drain_live_count(const nm_drain *drain);

/* The reader of a pipe takes nothing for the moment. */
bool nm_drain_is_waiting(const nm_drain *drain);

/* Closes the session, takes what is left, waits for names, and writes the last block, onto the disk. The folder stays. */
nm_status nm_drain_finish(nm_drain *drain, nm_error *err);

/* Ends the session if no process records in it and none has joined since the last pass: true, and none will. */
bool nm_drain_close_idle(nm_drain *drain);

/* Stops the program's side at once: no more rings, no more events. */
void nm_drain_close(nm_drain *drain);

void nm_drain_tell(const nm_drain *drain, nm_drain_report *report);

/* Who, of unseen_count, and why. Borrowed. */
const char *nm_drain_unseen(const nm_drain *drain, uint64_t index);

#endif
