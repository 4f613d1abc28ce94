/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of the shared files between a recorded program and the drain: one session, one file per process, one ring
 * per thread. record/ writes rings, drain/ reads them. Layout only: nothing here calls anything, so that both sides, and
 * the recovery of a dead recording, see the same bytes. Native byte order: rings never leave their host.
 *
 *     FOLDER/            0700, named by the environment variable NPUMEM_SESSION
 *       session          nm_ring_session, written by the drain
 *       p.NUMBER         nm_ring_process, written by a process when it starts
 *       r.NUMBER         nm_ring, written by a thread at its first event; NUMBER is its ring_id
 *       s.NUMBER         nm_ring_spill, written by the drain: slots of ring NUMBER, while it has no time to encode them
 *       u.PID            a link, left by a process that could not open or map the session; its target is an error number
 *       trial/           the same once more, for a trial before the program starts
 *
 * Numbers of processes, threads and rings come from counters in the session file, count from 1, and are the identifiers in
 * the trace (process_id, thread_id, ring_id): so recovery needs no other table.
 *
 * THE RING. Slots of 64 bytes. Positions count slots from 0 and never wrap; position p is in slot p % slot_count. A
 * record takes one or more slots in a row. The writer (one thread, and signal handlers that interrupt it):
 *
 *   1. looks for room:  head + n <= tail + slot_count   (else it waits or drops: DESIGN.md section 6, rule 3)
 *   2. claims n slots:  compare-and-swap head from p to p + n. Atomic against its own signal handlers is enough.
 *      From here to step 5 the thread shows an open stamp: a claimed slot that is not published.
 *   3. takes the time stamp, AFTER the claim
 *   4. writes the words, and the `valid` of every further slot
 *   5. stores `valid` of the first slot with release: the record is published and survives the death of the program
 *
 * The file is as long as the ring may become, with memory for the first slots alone: the writer gives it more as head gets
 * there for the first time. Where there is none, slot_count becomes what the ring has; until then no position was past that,
 * so that none of them lies in another slot for it.
 *
 * The drain reads positions from its own cursor up to head. `valid` names its position, so what an earlier lap left behind
 * is never taken for a record. A slot that stays unpublished though its thread is dead, or for longer than a second, is
 * skipped and counted; at once, when the thread itself says that the call is gone (NM_RING_ABANDONED). The drain appends a
 * block to the file and only then moves tail over the slots that stand in it. Where it falls behind it copies slots into s.NUMBER
 * first, as they are and with their positions, moves tail over them, and encodes them from there in their order.
 *
 * ORDER. A record that is not visible yet has a stamp that is younger than the drain's last look at that ring at which
 * head was not past its slot. Stores become visible in bounded time, not at once, so the drain takes NM_RING_MARGIN_NS off
 * every bound. With that, no fence is needed between claim and stamp.
 */
#ifndef NM_TRACE_RING_H
#define NM_TRACE_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define NM_RING_ENVIRONMENT      "NPUMEM_SESSION" /* the folder; in the environment of every recorded process */
#define NM_RING_SESSION_FILE     "session"
#define NM_RING_REFUSED_PREFIX   'u'
#define NM_RING_SPILL_PREFIX     's'
#define NM_RING_CONTROL_FILE     "ctl" /* a socket of the drain, for questions and orders */

/* Processes that npumem-record is not around: how they find the drain of their host (record/host.h). */
#define NM_HOST_ENVIRONMENT      "NPUMEM_OUTPUT" /* pattern of the trace's name; set: record into the drain of this host */
#define NM_HOST_OPTIONS          "NPUMEM_OPTIONS" /* further options of that drain; a backslash makes the next byte plain */
#define NM_HOST_START_BYTE       0                /* of the door: locked by who starts the drain, then by the drain */
#define NM_HOST_READY_BYTE       1 /* of the door: locked by the drain once its folder stands in the door */

#define NM_RING_SESSION_MAGIC    0x36534553504e504eu /* "NPNPSES6", changes with every change of this layout */
#define NM_RING_PROCESS_MAGIC    0x34435250504e504eu
#define NM_RING_MAGIC            0x34474e52504e504eu
#define NM_RING_SPILL_MAGIC      0x314c5053504e504eu

#define NM_RING_MARGIN_NS        1000000 /* 1 ms: far more than a store needs to become visible to another processor */
#define NM_RING_SLOT_BYTES       64
#define NM_RING_HEADER_BYTES     4096
#define NM_RING_RECORD_SLOTS_MAX 128         /* 7 KiB of payload: 255 frames and their head fit twice over */
#define NM_RING_BYTES_DEFAULT    (1u << 20)  /* of slots, per thread; --buffer */
#define NM_RING_BYTES_MIN        (64u << 10) /* what it begins with */
#define NM_RING_BYTES_MAX        (1u << 30)
#define NM_RING_TEXT_BYTES_MAX   1024 /* of a path; names and marks are NPUMEM_TEXT_BYTES_MAX */
#define NM_RING_STACK_DEPTH_MAX  255
#define NM_RING_PYTHON_BYTES_MAX 1280 /* of a Python function's name and its file's */

typedef enum nm_clock_kind {
    NM_CLOCK_COUNTER = 1,   /* rdtscp, or isb + cntvct_el0; only where the system trusts it itself */
    NM_CLOCK_MONOTONIC = 2, /* clock_gettime(CLOCK_MONOTONIC): ticks are nanoseconds */
} nm_clock_kind;

typedef enum nm_stack_mode {
    NM_STACKS_NONE = 0,
    NM_STACKS_CALLER = 1,
    NM_STACKS_NATIVE = 2,
    NM_STACKS_PYTHON = 3, /* Python frames alone; a thread without them: as CALLER */
    NM_STACKS_BOTH = 4,   /* native frames as far as the interpreter's own, then Python frames */
} nm_stack_mode;
typedef enum nm_on_full { NM_ON_FULL_WAIT = 0, NM_ON_FULL_DROP = 1 } nm_on_full;

/* ns = anchor_ns + (ticks - anchor_ticks) * ns_per_tick_q32 / 2^32, since the recording began. Ticks before the anchor
 * are converted with the same slope. The drain measures anew from time to time and flips `which`. */
typedef struct nm_calibration {
    uint64_t anchor_ticks;
    int64_t anchor_ns;
    uint64_t ns_per_tick_q32;
} nm_calibration;

/* Why a process records memory alone, without stacks: nm_ring_session.is_paused, and the same bits of its own. */
enum {
    NM_PAUSED_BY_SESSION = 1,
    NM_PAUSED_BY_STEPS = 2,   /* its own: it is outside of from_step to to_step */
    NM_PAUSED_BY_PROGRAM = 4, /* its own: npumem_pause */
    NM_PAUSED_FOR_GOOD = 8,   /* the recording has ended: nothing at all is recorded */
    NM_PAUSED_AT_START = 16,  /* the session began paused: until it goes on, or the process itself says npumem_resume */
};

typedef struct nm_ring_session {
    /* Written once, before any program starts, but for is_paused, which changes rarely. */
    uint64_t magic;
    uint64_t session_bytes; /* sizeof(nm_ring_session): a second check on the layout */
    uint8_t trace_id[16];
    uint32_t clock_kind;        /* nm_clock_kind */
    _Atomic uint32_t is_paused; /* NM_PAUSED_BY_SESSION, _AT_START, _FOR_GOOD; beside clock_kind: read at every event */
    int64_t from_step, to_step; /* a process records in full from the one to the other; INT64_MIN, INT64_MAX: always */
    uint32_t is_live_set_known; /* 1: the drain writes nothing of a paused process until it goes on */
    uint32_t is_sampled;        /* 1: host memory is told (--sample-interval) */
    uint32_t stack_mode;        /* nm_stack_mode */
    uint32_t stack_depth;       /* frames kept, 1 to NM_RING_STACK_DEPTH_MAX */
    uint32_t on_full;           /* nm_on_full */
    uint32_t wait_event_us;     /* longest wait of one event for room in a full ring; then it is dropped */
    uint32_t wait_second_us;    /* longest wait of one thread in a second */
    uint64_t ring_bytes;        /* of slots, a power of two times NM_RING_SLOT_BYTES */
    int64_t start_realtime_ns;
    int64_t drain_pid;

    /* Written by the drain while it lives. */
    _Alignas(64) _Atomic uint64_t heartbeat; /* changes at least ten times a second */
    _Atomic uint32_t is_closed;              /* 1: no new rings, stop recording */
    _Atomic uint32_t which;                  /* the calibration that holds */
    nm_calibration calibration[2];

    /* Written by all, rarely: each takes the next number with fetch_add and uses the result + 1. */
    _Alignas(64) _Atomic uint64_t process_count;
    _Atomic uint64_t thread_count;
    _Atomic uint64_t ring_count;
} nm_ring_session;

#define NM_RING_COMMAND_BYTES_MAX 2048
#define NM_RING_HOST_FIGURES      5 /* kinds of host memory: NM_MEMORY_HOST_RESIDENT to NM_MEMORY_HOST_MAX */

typedef struct nm_ring_process {
    uint64_t magic;
    uint64_t number; /* process_id */
    int64_t pid, parent_pid;
    uint64_t parent_number;         /* of the process it was forked from or replaced; 0: find it by parent_pid */
    uint64_t start_time;            /* field 22 of /proc/PID/stat: tells pids that are used again apart */
    uint64_t pid_namespace;         /* number in /proc/PID/ns/pid: pid means something there alone; 0: unknown */
    uint64_t exe_device, exe_inode; /* of the program's file; 0: unknown */
    uint64_t begin_ticks;
    /* INT64_MIN: unknown. Read again at the first event: a launcher's child may set them late. */
    _Atomic int64_t rank, local_rank, world_size;
    uint64_t is_forked; /* 1: by fork, without exec */
    uint64_t is_late;   /* 1: it ran before its recording began (npumem_start) */
    uint64_t command_bytes;
    char command[NM_RING_COMMAND_BYTES_MAX]; /* arguments, each ended by a zero byte as in /proc/PID/cmdline */

    _Alignas(64) _Atomic int64_t run_mode; /* aclrtRunMode, INT64_MIN: not asked yet */
    _Atomic uint64_t is_device_user;       /* 1 after its first event */
    _Atomic uint64_t end_kind;             /* nm_process_end + 1 once the process has said so itself; 0 before */
    _Atomic int64_t end_status;
    _Atomic uint64_t end_ticks;
    _Atomic uint64_t end_host_bytes[NM_RING_HOST_FIGURES]; /* bytes + 1 then, by kind; 0: unknown */

    /* Events of threads that have no ring. */
    _Alignas(64) _Atomic uint64_t dropped_count;
    _Atomic uint64_t drop_first_ticks, drop_last_ticks;
    _Atomic uint64_t ring_count; /* rings that it has made */
    _Atomic int64_t ring_errno;  /* why the last ring could not be made; 0: all could */

    uint64_t ready; /* NM_RING_PROCESS_MAGIC, stored last: the file is whole */
} nm_ring_process;

#define NM_SLOT_WORDS        7
#define NM_RING_OBJECT_KINDS 12 /* of nm_object_kind, from 0 on */

typedef struct nm_slot {
    _Atomic uint64_t valid; /* nm_slot_valid of its position; anything else: not published in this lap */
    uint64_t word[NM_SLOT_WORDS];
} nm_slot;

/* The first slot of a record: count = slots of the record (1 to 128), kind = nm_event_kind or nm_ring_kind. Further
 * slots: count = 0, kind = NM_RING_MORE. */
static inline uint64_t nm_slot_valid(uint64_t position, unsigned count, unsigned kind)
{
    return (position + 1) << 16 | (uint64_t)count << 8 | kind;
}

typedef struct nm_ring {
    uint64_t magic; /* stored last, with release: the ring is whole */
    uint64_t ring_id;
    uint64_t process_number;
    uint64_t slot_count; /* a power of two; its writer changes it once, before any position is past the new one */

    /* The writer's line. */
    _Alignas(64) _Atomic uint64_t head; /* next position to claim */
    _Atomic uint64_t owner;             /* thread number; 0: free for the next thread of the process */
    _Atomic int64_t owner_tid;
    _Atomic uint64_t dropped_count;    /* since the ring was made, over all its owners; a LOSS record states it too */
    _Atomic uint64_t drop_first_ticks; /* of the events dropped since the last LOSS record */
    _Atomic uint64_t drop_last_ticks;

    /* Objects of the runtime that its owners, one after the other, have made, and destroyed or given away. The writer's. */
    _Alignas(64) _Atomic uint64_t made_count[NM_RING_OBJECT_KINDS];
    _Atomic uint64_t gone_count[NM_RING_OBJECT_KINDS];

    /* The drain's line. */
    _Alignas(64) _Atomic uint64_t tail; /* positions below it stand in the trace file, or in s.NUMBER */
    _Atomic uint64_t lost_count;        /* dropped_count as far as it stands in the trace file */
} nm_ring;                              /* slots begin at NM_RING_HEADER_BYTES */

static inline nm_slot *nm_ring_slot(nm_ring *ring, uint64_t position)
{
    return (nm_slot *)((char *)ring + NM_RING_HEADER_BYTES) + (position & (ring->slot_count - 1));
}

/* Positions from tail on and below end stand here and not in the trace file yet, if there are any and the ring's tail is not past
 * end: then they are older. The drain's. Slots begin at NM_RING_HEADER_BYTES, position p in slot p % slot_count. */
typedef struct nm_ring_spill {
    uint64_t magic, ring_id;
    uint64_t slot_count; /* a power of two */
    _Atomic uint64_t tail, end;
} nm_ring_spill;

_Static_assert(sizeof(nm_slot) == NM_RING_SLOT_BYTES, "a slot is one cache line");
_Static_assert(sizeof(nm_ring) <= NM_RING_HEADER_BYTES, "the header fits its page");
_Static_assert(sizeof(nm_ring_process) <= NM_RING_HEADER_BYTES, "the process fits its page");

/* ---- Records: the words of the slots, one struct per kind; `ticks` is always first --------------------------------- */

/* Records that are no events. Events have their nm_event_kind, below 64. */
typedef enum nm_ring_kind {
    NM_RING_THREAD = 64,      /* nm_ring_thread: what follows in this ring is of this thread */
    NM_RING_THREAD_END = 65,  /* nm_ring_number */
    NM_RING_THREAD_NAME = 66, /* nm_ring_text */
    NM_RING_HEAP = 67,        /* nm_ring_heap */
    NM_RING_DEVICE = 68,      /* nm_ring_device */
    NM_RING_MODULE = 69,      /* nm_ring_module */
    NM_RING_STACK = 70,       /* nm_ring_stack: before the first event that uses it, in the same ring */
    NM_RING_PYTHON = 72,      /* nm_ring_python: before the first stack that uses it, in the same ring */
    NM_RING_ATTRIBUTE = 75,   /* nm_ring_text: NAME=VALUE of the process; detail = nm_attribute_source */
    NM_RING_ABANDONED = 76, /* no words: slots that a call had claimed which was left by a jump; what it said is lost */
    NM_RING_MORE = 255,
} nm_ring_kind;

/* Heap, flags and stack of an event in one word. Heap: the process's number (0: find by address). Flags: NM_FLAG_*.
 * Stack: the thread's own number, from 1 (0: none). */
static inline uint64_t nm_ring_where(uint32_t heap, uint32_t flags, uint32_t stack)
{
    return (uint64_t)stack << 32 | (uint64_t)(flags & 0xffff) << 16 | (heap & 0xffff);
}

typedef struct nm_ring_alloc { /* ALLOC; MAP and RESERVED without requested_bytes: one slot */
    uint64_t ticks, address, requested_bytes, block_bytes, stream, where;
    uint32_t policy, cost_ticks; /* the cost saturates */
} nm_ring_alloc;

typedef struct nm_ring_free { /* FREE, FREE_REQUESTED, FREE_FAILED, UNMAP, EXPORT: one slot */
    uint64_t ticks, address, where, stream;
    uint64_t detail;      /* nm_free_call */
    int64_t error_code;   /* FREE_FAILED */
    uint64_t block_bytes; /* UNMAP */
} nm_ring_free;

typedef struct nm_ring_alloc_failed {
    uint64_t ticks, requested_bytes, where, stream, policy;
    int64_t error_code;
    uint64_t free_bytes, total_bytes; /* 0: unknown */
} nm_ring_alloc_failed;

typedef struct nm_ring_copy { /* devices: the process's number, as in nm_ring_device; 0: host or unknown */
    uint64_t ticks, target_address, source_address, size_bytes, limit_bytes, stream, where;
    uint32_t kind, cost_ticks;
    int64_t error_code;
    uint32_t target_device, source_device;
} nm_ring_copy;

typedef struct nm_ring_number { /* STEP, RANGE_END, RESET, DEVICE_CALL, PAUSE, THREAD_END */
    uint64_t ticks, where;
    int64_t number;
    uint64_t detail; /* RANGE_END: number of the model that was loaded, or 0 */
    uint64_t device; /* the process's number */
    int64_t error_code;
} nm_ring_number;

typedef struct nm_ring_sample { /* MEMORY_SAMPLE */
    uint64_t ticks, device, detail, free_bytes, total_bytes;
} nm_ring_sample;

typedef struct nm_ring_loss { /* LOSS: written by the thread when there is room again */
    uint64_t ticks;           /* of the first event dropped; the record itself may be younger */
    uint64_t until_ticks;     /* of the last */
    uint64_t dropped_count;   /* the ring's, after these */
    uint64_t detail;          /* nm_loss */
} nm_ring_loss;

typedef struct nm_ring_text { /* MARK, NOTE, THREAD_NAME, ATTRIBUTE; text_bytes bytes follow */
    uint64_t ticks;
    int64_t number;  /* NOTE */
    uint64_t detail; /* NOTE: nm_note; MARK: 1 when the trace is to hold it soon */
    uint64_t text_bytes;
} nm_ring_text;

typedef struct nm_ring_range { /* RANGE_BEGIN; text_bytes bytes, its name, follow */
    uint64_t ticks;
    int64_t number;         /* pairs it with its end */
    uint32_t detail, flags; /* nm_range_kind, NM_FLAG_STREAM */
    uint64_t stream;
    uint64_t address, requested_bytes; /* of an operator's workspace */
    uint64_t model_id;
    uint64_t text_bytes;
} nm_ring_range;

typedef struct nm_ring_stream_call { /* STREAM_CALL: one slot */
    uint64_t ticks, where, stream, event;
    uint32_t detail, cost_ticks; /* nm_stream_call */
    int64_t error_code;
    uint64_t device;
} nm_ring_stream_call;

typedef struct nm_ring_objects { /* OBJECTS: one slot */
    uint64_t ticks, where, handle, kind;
    uint64_t made_count, gone_count; /* for which it stands: one is 0 */
} nm_ring_objects;

typedef struct nm_ring_module_sample { /* MODULE_SAMPLE; the module's name follows */
    uint64_t ticks, device, size_bytes, total_bytes;
    uint64_t text_bytes;
} nm_ring_module_sample;

typedef struct nm_ring_thread { /* name follows */
    uint64_t ticks, thread_number;
    int64_t tid;
    uint64_t text_bytes;
} nm_ring_thread;

typedef struct nm_ring_heap { /* name follows */
    uint64_t ticks, local_id; /* 1 to 65,535, of the process */
    uint64_t level;           /* nm_heap_level */
    uint64_t device;          /* the process's number; 0: host memory */
    uint64_t small_bytes, large_bytes;
    uint64_t size_basis; /* nm_size_basis */
    uint64_t module_id;
    uint64_t text_bytes;
} nm_ring_heap;

typedef struct nm_ring_device {        /* name (of the SoC, may be empty) follows */
    uint64_t ticks, local_id;          /* ordinal + 1 */
    int64_t ordinal, physical_ordinal; /* physical: INT64_MIN when unknown */
    uint64_t capacity_bytes;           /* 0: unknown */
    uint64_t text_bytes;
} nm_ring_device;

typedef struct nm_ring_module {  /* path follows */
    uint64_t ticks, base, bytes; /* base: address that file offset 0 would have */
    uint64_t inode, device;      /* of the file, as in /proc/self/maps: does the path still name it? */
    uint64_t text_bytes;
} nm_ring_module;

typedef struct nm_ring_python { /* the function's name follows, then the file's */
    uint64_t ticks, local_id;   /* the thread's own number, from 1 */
    uint64_t version;           /* of the interpreter: major and minor in a byte each */
    uint64_t line;              /* 0: unknown */
    uint64_t function_bytes;
    uint64_t text_bytes; /* of both */
} nm_ring_python;

#define NM_RING_PYTHON_FRAME (UINT64_C(1) << 63) /* no address has this bit */

/* `depth` frames follow, innermost first: a return address, or NM_RING_PYTHON_FRAME and a PYTHON record's number. */
typedef struct nm_ring_stack {
    uint64_t ticks, local_id;
    uint32_t depth, end; /* end: nm_stack_end */
} nm_ring_stack;

_Static_assert(sizeof(nm_ring_alloc) == 7 * 8 && sizeof(nm_ring_free) == 7 * 8 && sizeof(nm_ring_stream_call) == 7 * 8,
               "one slot each");

#endif
