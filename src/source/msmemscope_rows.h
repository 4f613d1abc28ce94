/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a dump of msMemScope (msLeaks before it), CSV or database, of every dialect: what each says, in one form, by the time
 * at which it happened. All of them are in memory, some 100 bytes each. Names and stacks are numbers of `gathered`.
 */
#ifndef NM_SOURCE_MSMEMSCOPE_ROWS_H
#define NM_SOURCE_MSMEMSCOPE_ROWS_H

#include "base/buffer.h"
#include "base/map.h"
#include "source/foreign_rows.h"
#include "source/gathered.h"
#include "source/input.h"

#define NM_MSMEMSCOPE_UNKNOWN       INT64_MIN /* of a figure: the row does not say it */
#define NM_MSMEMSCOPE_HOST          (-1)      /* of a device */
#define NM_MSMEMSCOPE_NO_DEVICE     (-2)
#define NM_MSMEMSCOPE_DEVICES_MAX   64 /* a number beyond is taken for none */
#define NM_MSMEMSCOPE_NO_MODULE     (-1)
#define NM_MSMEMSCOPE_PROCESSES_MAX 4096 /* of each some 30 KB are kept behind the source */

typedef enum nm_msmemscope_kind {
    NM_MSMEMSCOPE_MALLOC = 1, /* address size total used module category */
    NM_MSMEMSCOPE_FREE,       /* address size (of any sign) total used */
    NM_MSMEMSCOPE_BEGIN,      /* of an operator, a kernel, or a range of mstx (is_user) */
    NM_MSMEMSCOPE_END,
    NM_MSMEMSCOPE_LAUNCH, /* of a kernel, at an instant */
    NM_MSMEMSCOPE_MARK,
    NM_MSMEMSCOPE_STEP,   /* a range of mstx that begins a step */
    NM_MSMEMSCOPE_SAMPLE, /* total, and used: free bytes */
    NM_MSMEMSCOPE_FAILED, /* size */
} nm_msmemscope_kind;

typedef enum nm_msmemscope_store { /* whose memory; numbers are none of a file */
                                   NM_MSMEMSCOPE_HAL,
                                   NM_MSMEMSCOPE_PTA,
                                   NM_MSMEMSCOPE_ATB,
                                   NM_MSMEMSCOPE_MINDSPORE,
                                   NM_MSMEMSCOPE_OTHER_POOL,
                                   NM_MSMEMSCOPE_WORKSPACE,
                                   NM_MSMEMSCOPE_PINNED,
                                   NM_MSMEMSCOPE_HOST_MEMORY,
                                   NM_MSMEMSCOPE_STORES
} nm_msmemscope_store;

typedef struct nm_msmemscope_row {
    int64_t time_ns; /* since 1970 where the file knows it */
    int64_t id;      /* of the file; of its process in some */
    uint64_t address;
    int64_t size, total, used;
    uint64_t place;    /* in the file: of rows of one time and ID the first comes first */
    uint32_t thread;   /* index */
    uint32_t name;     /* string, or 0 */
    uint32_t stack;    /* or 0 */
    uint32_t category; /* string, or 0 */
    int64_t stream;    /* NM_MSMEMSCOPE_UNKNOWN */
    int16_t device, module;
    uint8_t kind, store;
    bool is_user;
} nm_msmemscope_row;

typedef struct nm_msmemscope_thread {
    uint32_t process; /* index */
    int64_t tid;
} nm_msmemscope_thread;

typedef struct nm_msmemscope_process {
    int64_t pid;
    uint32_t first_thread; /* index */
    bool has_begin;        /* its file begins with it: nothing was there before */
} nm_msmemscope_process;

typedef struct nm_msmemscope_rows {
    struct {
        nm_msmemscope_row *items;
        size_t count, capacity;
    } rows;
    struct {
        nm_msmemscope_thread *items;
        size_t count, capacity;
    } threads;
    struct {
        nm_msmemscope_process *items;
        size_t count, capacity;
    } processes;
    nm_map thread_of;   /* (process, tid) -> index */
    nm_map process_of;  /* pid -> index */
    nm_map stack_of;    /* (text of Python, of C) -> stack */
    uint64_t row_count; /* of the file */
    uint64_t odd_count; /* of which nothing can be made */
    uint64_t cut_bytes; /* behind the last whole row */
    bool is_cut;
} nm_msmemscope_rows;

/* The columns by which it is known; NULL is the last. */
extern const char *const nm_msmemscope_columns[];
extern const char *const nm_msmemscope_tables[];

/* NM_ERR_FORMAT: no row of it can be read. NM_ERR_LIMIT: of more than NM_MSMEMSCOPE_PROCESSES_MAX processes. `rows` is zeroed before, and to be freed on failure too. */
nm_status nm_msmemscope_read_csv(nm_input *input, nm_gathered *gathered, nm_msmemscope_rows *rows, nm_error *err);
nm_status nm_msmemscope_read_database(nm_foreign_tables *database, nm_gathered *gathered, nm_msmemscope_rows *rows,
                                      nm_error *err);
void nm_msmemscope_rows_free(nm_msmemscope_rows *rows);

#endif
