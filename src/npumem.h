/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem.h: tell the npumem recorder what your program and its memory pools do.
 *
 * HOW TO USE, in C and in C++ (npumem.hpp beside this file has the same as classes)
 *
 *     npumem_heap_options about = NPUMEM_HEAP_DEFAULTS;
 *     about.name = "my pool";
 *     about.device = 0;
 *     npumem_heap heap = npumem_heap_define(&about);
 *     ...
 *     void *block = my_pool_allocate(bytes);
 *     npumem_alloc_options details = NPUMEM_ALLOC_DEFAULTS;
 *     details.block_bytes = rounded;
 *     details.outcome = NPUMEM_HIT;
 *     npumem_alloc(heap, block, bytes, &details);      // before anybody else learns the address
 *     ...
 *     npumem_free(heap, block, NULL);                  // BEFORE the block can be handed out again
 *     my_pool_free(block);
 *     ...
 *     npumem_step(n);                                  // once a training step
 *     npumem_mark("after warm-up");                    // a moment to look at later
 *
 * Link with -lnpumem (pkg-config npumem) and run under `npumem-record -- PROGRAM`, or call npumem_start() and
 * npumem_stop() yourself. While nothing records, every call returns after one test of a flag.
 *
 * RULES FOR EVERY FUNCTION, but for npumem_start and npumem_stop
 * - Any thread, at any time, also from a signal handler and in a child after fork. No lock is taken.
 * - No heap call, no output, no exit; errno is left alone. Failure is silent: what could not be recorded is counted,
 *   and the count is shown by npumem-ingest.
 * - Text is copied; what is longer than NPUMEM_TEXT_BYTES_MAX is cut before it, between characters, and ends with "...".
 * - An options pointer may be NULL for the defaults; NPUMEM_..._DEFAULTS is a struct that says the same, to be changed.
 *   `struct_bytes` must be sizeof the struct: a later version of the library understands programs compiled with an
 *   earlier header.
 */
#ifndef NPUMEM_H
#define NPUMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NPUMEM_VERSION_MAJOR  0
#define NPUMEM_VERSION_MINOR  1
#define NPUMEM_VERSION_PATCH  0
#define NPUMEM_VERSION        (NPUMEM_VERSION_MAJOR * 10000 + NPUMEM_VERSION_MINOR * 100 + NPUMEM_VERSION_PATCH)

#define NPUMEM_TEXT_BYTES_MAX 255 /* bytes of a name or a mark that are kept */

#if defined(__GNUC__)
#define NPUMEM_API __attribute__((visibility("default")))
#else
#define NPUMEM_API
#endif

/* The version of the library that is loaded, as NPUMEM_VERSION. */
NPUMEM_API int npumem_version(void);

/* ---- Recording without npumem-record around the program ---- */

typedef struct npumem_start_options {
    size_t struct_bytes;     /* sizeof(npumem_start_options) */
    const char *output_path; /* as npumem-record -o; NULL: npumem-%h-%p.zst */
    const char *stacks;      /* "none", "caller", "native", "python", "both"; NULL: "both" */
    int is_watched;          /* 1: as npumem-record --watch, so that figures can be asked for while it records */
    char *why;               /* where a -1 leaves one line on what was missing; NULL: nowhere */
    size_t why_bytes;        /* room there, the closing zero included */
    int is_paused;           /* 1: as npumem-record --start-paused: records what is live alone until npumem_resume */
} npumem_start_options;

#define NPUMEM_START_DEFAULTS                                                                                          \
    {                                                                                                                  \
        sizeof(npumem_start_options), NULL, NULL, 0, NULL, 0, 0                                                        \
    }

/*
 * Starts recording this process and the processes it starts: runs `npumem-record` detached, as the drain. 0 when it
 * records (also when npumem-record is around the program already); -1 when it cannot (no npumem-record beside the
 * library or where it was built to be, no folder for the rings, NPUMEM=off, a program that is setuid, setgid or has
 * capabilities): the program goes on unrecorded. Not from a signal handler.
 */
NPUMEM_API int npumem_start(const npumem_start_options *options);

/* Ends what npumem_start began and waits until the trace is whole, at most 10 seconds. Under npumem-record: does nothing.
 * 0: the trace is whole. -1: not in time, or nothing was recording. */
NPUMEM_API int npumem_stop(void);

/* 1 while this process records, else 0. */
NPUMEM_API int npumem_is_recording(void);

/* The folder of the recording that this process is part of: `npumem-record --ctl FOLDER` talks to it. NULL while nothing
 * records. Valid until the next npumem_start. */
NPUMEM_API const char *npumem_folder(void);

/* ---- Heaps ---- */

typedef uint32_t npumem_heap; /* 0: no heap; calls with it record nothing */

typedef enum npumem_level { /* what kind of memory the heap hands out */
                            NPUMEM_LEVEL_DRIVER = 1,
                            NPUMEM_LEVEL_POOL = 2,
                            NPUMEM_LEVEL_WORKSPACE = 3,
                            NPUMEM_LEVEL_PINNED = 4,
                            NPUMEM_LEVEL_REGISTERED = 5,
                            NPUMEM_LEVEL_HOST = 6,
} npumem_level;

#define NPUMEM_NO_DEVICE (-1)

typedef struct npumem_heap_options {
    size_t struct_bytes;  /* sizeof(npumem_heap_options) */
    const char *name;     /* shown in every answer; NULL: "heap" */
    npumem_level level;   /* 0: NPUMEM_LEVEL_POOL */
    int32_t device;       /* as the program counts (aclrtSetDevice); NPUMEM_NO_DEVICE for host memory */
    uint64_t small_bytes; /* requests below it are small; 0: 4 KiB */
    uint64_t large_bytes; /* requests above it are large; 0: 1 MiB */
    int uses_block_bytes; /* 0: sums use the requested size; 1: the block size */
} npumem_heap_options;

#define NPUMEM_HEAP_DEFAULTS                                                                                           \
    {                                                                                                                  \
        sizeof(npumem_heap_options), NULL, NPUMEM_LEVEL_POOL, NPUMEM_NO_DEVICE, 0, 0, 0                                \
    }

/*
 * Defines a heap of this process; at most 65,535. The same name, level and device give the same heap. 0 when nothing
 * records yet; past the limit, or without memory, a heap whose events are counted as dropped. A child after fork must
 * define its heaps again: handles of the parent are ignored there.
 */
NPUMEM_API npumem_heap npumem_heap_define(const npumem_heap_options *options);

/* ---- Memory ---- */

typedef enum npumem_outcome { NPUMEM_UNKNOWN = 0, NPUMEM_HIT = 1, NPUMEM_MISS = 2 } npumem_outcome;

#define NPUMEM_NO_STREAM UINT64_MAX /* the stream is not known; 0 is a stream: the default one */

typedef struct npumem_alloc_options {
    size_t struct_bytes;    /* sizeof(npumem_alloc_options) */
    uint64_t block_bytes;   /* what was handed out; 0: unknown */
    uint64_t stream;        /* NPUMEM_NO_STREAM: unknown */
    npumem_outcome outcome; /* did the pool serve it by itself? NPUMEM_UNKNOWN: npumem finds out */
} npumem_alloc_options;

#define NPUMEM_ALLOC_DEFAULTS                                                                                          \
    {                                                                                                                  \
        sizeof(npumem_alloc_options), 0, NPUMEM_NO_STREAM, NPUMEM_UNKNOWN                                              \
    }

/* `address` was handed out: call it AFTER the allocation, before anybody else learns the address. NULL options: stream
 * and outcome unknown. */
NPUMEM_API void npumem_alloc(npumem_heap heap, const void *address, uint64_t requested_bytes,
                             const npumem_alloc_options *options);

typedef struct npumem_free_options {
    size_t struct_bytes; /* sizeof(npumem_free_options) */
    uint64_t stream;     /* NPUMEM_NO_STREAM: unknown */
    int is_request;      /* 1: given up, but not reusable before a second npumem_free with 0 (another stream uses it) */
} npumem_free_options;

#define NPUMEM_FREE_DEFAULTS                                                                                           \
    {                                                                                                                  \
        sizeof(npumem_free_options), NPUMEM_NO_STREAM, 0                                                               \
    }

/* `address` is given back: call it BEFORE the pool can hand it out again. */
NPUMEM_API void npumem_free(npumem_heap heap, const void *address, const npumem_free_options *options);

/* A request that could not be served; error_code is the pool's or the runtime's (207001: out of memory). */
NPUMEM_API void npumem_alloc_failed(npumem_heap heap, uint64_t requested_bytes, int64_t error_code);

typedef enum npumem_copy_kind {
    NPUMEM_COPY_HOST_TO_HOST = 0,
    NPUMEM_COPY_HOST_TO_DEVICE = 1,
    NPUMEM_COPY_DEVICE_TO_HOST = 2,
    NPUMEM_COPY_DEVICE_TO_DEVICE = 3,
} npumem_copy_kind;

typedef struct npumem_copy_options {
    size_t struct_bytes;  /* sizeof(npumem_copy_options) */
    uint64_t limit_bytes; /* room at the target; 0: unknown */
    uint64_t stream;      /* NPUMEM_NO_STREAM: unknown */
    uint64_t cost_ns;     /* how long the call took; 0: unknown */
    int is_async;
} npumem_copy_options;

#define NPUMEM_COPY_DEFAULTS                                                                                           \
    {                                                                                                                  \
        sizeof(npumem_copy_options), 0, NPUMEM_NO_STREAM, 0, 0                                                         \
    }

/* For copies that npumem's own hooks do not see. */
NPUMEM_API void npumem_copy(const void *target, const void *source, uint64_t size_bytes, npumem_copy_kind kind,
                            const npumem_copy_options *options);

/* ---- What the program is doing ---- */

NPUMEM_API void npumem_mark(const char *name);            /* a moment of its own in every answer */
NPUMEM_API void npumem_snapshot(const char *name);        /* a mark, and soon on the disk; NULL: "snapshot" */
NPUMEM_API void npumem_step(int64_t number);              /* this step of the process begins; the one before it ends */
NPUMEM_API uint64_t npumem_range_begin(const char *name); /* 0 while nothing records */
NPUMEM_API void npumem_range_end(uint64_t range);         /* 0 is ignored; may be called by another thread */
NPUMEM_API void npumem_thread_name(const char *name);     /* of the calling thread */

/*
 * A range in which what the calling thread allocates is what `name` says, until npumem_range_end: "weight", "gradient",
 * "optimizer state", "activation", "KV cache", "workspace", "communication", "graph", "temporary", or a word of your own.
 * Of several around it the innermost counts, whatever ranges lie between. What exists already stays what it was.
 */
NPUMEM_API uint64_t npumem_category_begin(const char *name);

/* A range that is the forward of a part of a model; `path` is its place in it: "model.layers.3.mlp". The view peak_by_module
 * shows these as a tree. Ended by npumem_range_end. */
NPUMEM_API uint64_t npumem_module_begin(const char *path);

/*
 * From npumem_pause to npumem_resume this process records only which memory comes and goes, without stacks: no copies, no
 * ranges, no marks (but for npumem_snapshot). The trace is told at the end what lives and what is gone by then, where the
 * recording keeps that (npumem-record --watch or --start-paused); else each event, without its stack. Any number of
 * pauses is ended by one resume, and so is that of a recording that began paused, for this process. See docs/recorder.md.
 */
NPUMEM_API void npumem_pause(void);
NPUMEM_API void npumem_resume(void);

#ifdef __cplusplus
}
#endif

#endif
