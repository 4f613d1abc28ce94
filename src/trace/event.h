/* SPDX-License-Identifier: Apache-2.0
 *
 * The one vocabulary that everything shares: what can happen (events) and what things are called (definitions). The
 * drain writes it, every source delivers it, the replay reads it. A newcomer starts here.
 *
 * Numbers of things (process, thread, device, heap, string, module, frame, stack) are given by whoever makes the stream,
 * count from 1, are never used for two things in one stream, and 0 means "none" or "unknown". A definition comes before
 * the first event that uses it; it may come again, unchanged or with more known (a name found later): the last one holds.
 */
#ifndef NM_TRACE_EVENT_H
#define NM_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define NM_NO_TIME INT64_MIN /* the source does not know the time */

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* What happened. The number stands in trace files: never reuse one. Fields that a kind does not name are 0. */
typedef enum nm_event_kind {
    NM_EVENT_NONE = 0,

    /* Memory. `heap_id` 0 in a free means: found by address among what nm_free_call may free in the thread's process. A
     * free is stamped before the call and an allocation after it. */
    NM_EVENT_ALLOC =
        1, /* thread heap address requested_bytes block_bytes stack stream policy cost_ns. From a source that
                           is told what it is, not in a trace: name_id (category) */
    NM_EVENT_FREE = 2, /* thread heap address stack stream; detail = nm_free_call; the memory is reusable now */
    NM_EVENT_FREE_REQUESTED = 3, /* thread heap address stack stream; given up, but another stream still uses it */
    NM_EVENT_FREE_FAILED = 4,  /* thread address error_code detail: the free just before, by this thread, was refused */
    NM_EVENT_ALLOC_FAILED = 5, /* thread heap requested_bytes stack stream policy error_code free_bytes total_bytes */
    NM_EVENT_MAP = 6,      /* thread heap address block_bytes stack stream policy: a range of driver memory appears */
    NM_EVENT_UNMAP = 7,    /* thread heap address block_bytes stack stream: may cut ranges in the middle. block_bytes 0:
                           the mapping that begins there, of the heap or (heap 0) of the thread's process */
    NM_EVENT_RESET = 8,    /* thread device stack; everything of that device (0: of the process) is freed */
    NM_EVENT_RESERVED = 9, /* thread heap block_bytes: the pool says that it holds so many bytes of driver memory */
    NM_EVENT_EXPORT = 10,  /* thread address stack; detail = nm_free_call (how to find what is at the address): from now
                              on other processes may open this memory */

    /* Transfers. */
    NM_EVENT_COPY =
        16, /* thread address (target) source_address size_bytes limit_bytes stack stream detail = nm_copy_kind
                           cost_ns error_code device_id (target) number (source device_id) */

    /* What the program says of itself. */
    NM_EVENT_MARK = 24, /* thread name_id */
    NM_EVENT_STEP = 25, /* thread number: this step of the process begins, the one before it ends; device_id or 0 */
    NM_EVENT_RANGE_BEGIN = 26, /* thread name_id number (pairs it with its end; 0: the innermost of the thread) stream
                                  detail = nm_range_kind. An operator: address requested_bytes (its workspace, 0: none);
                                  a model: model_id */
    NM_EVENT_RANGE_END = 27,   /* thread number error_code (what the operator returned; -1: an exception left it). From
                                  1.5 on, of a load: model_id (0: none was loaded) */

    /* State. */
    NM_EVENT_MEMORY_SAMPLE = 32, /* thread device detail = nm_memory_kind free_bytes total_bytes. Of host memory, seen
                                    from outside: number (process_id) size_bytes (used) total_bytes (of the machine). Not in a trace: of a
                                    device whose size is not told: size_bytes (used) */
    NM_EVENT_DEVICE_CALL = 33,   /* thread device detail = nm_device_call error_code */
    NM_EVENT_PROCESS_END = 34,   /* number (process_id) detail = nm_process_end error_code (exit status or signal) */
    NM_EVENT_STREAM_CALL =
        35, /* thread stream number (handle of an event, a graph, ...) device stack detail = nm_stream_call cost_ns
                                    error_code */
    NM_EVENT_MODULE_SAMPLE = 36, /* thread device name_id (module) size_bytes (now) total_bytes (its peak): what the
                                    runtime itself says that a module of it holds of the device (aclrtGetMemUsageInfo) */
    NM_EVENT_NOTE = 37, /* thread name_id (text) detail = nm_note number (how many): what the recorder could not
                                    see, or saw in another way than usual */

    /* Objects of the runtime (detail = nm_object_kind). Thread 0, what a process has made so far: number (process_id) count
     * ended_count (destroyed, or given to a list). Of a thread, one of count that it made, or of ended_count that were
     * destroyed, for which it stands: stack number (handle). */
    NM_EVENT_OBJECTS = 38,

    /* Loss is data: `number` events of `thread_id` between time_ns and until_ns were not recorded; detail = nm_loss.
     * Thread 0: it is not known whose, so they may be anybody's (a block of the file that cannot be read). */
    NM_EVENT_LOSS = 40,

    /* From here on (in the order of events) nothing but its steps, samples, failures and end is told of the process
     * `number`, or all is told again. What happened to its memory in between comes before, as if it happened now:
     * NM_FLAG_PAUSED. thread; detail = nm_pause_detail. */
    NM_EVENT_PAUSE = 41,

    /* The state at the end, from a source that knows it (a snapshot's own list of segments and blocks). */
    NM_EVENT_STATE_SEGMENT = 48, /* heap address block_bytes (total) size_bytes (occupied by blocks) stream */
    NM_EVENT_STATE_BLOCK = 49, /* heap address block_bytes requested_bytes stream stack; flag NM_FLAG_IDLE when free */

    /* What was before a part of a recording that is kept in parts (npumem-record --keep). These and events with
     * NM_FLAG_REPEAT take a number in order, but are none of the program's events: see nm_event_is_repeat. A reader that
     * begins at the part starts from them, one that has read what was before passes over them. */
    NM_EVENT_KEYFRAME =
        56, /* detail = nm_keyframe, or the kind of the event that made what is live: thread heap address
                               requested_bytes block_bytes stack stream policy cost_ns number (its seq) generation pool_id
                               (the heap whose segment it is); the begin: count (events before), ended_count (of these
                               dropped), miss_count (of these unreadable) */
    NM_EVENT_STEP_TOTAL = 57, /* process heap number (of the first step) generation (how many steps had begun with it)
                                 detail (generation of the last step) first_seq last_seq until_ns and sums of these steps,
                                 total_bytes (most that a pool had reserved) size_bytes (driver calls of the device);
                                 flag NM_FLAG_PENDING: so far, of the step that goes on. Heap 0: that step itself */
    NM_EVENT_SITE_TOTAL = 58, /* heap stack and sums; peak_bytes and live_count are the share of the heap's peak */
    NM_EVENT_HEAP_TOTAL = 59, /* heap detail = nm_heap_figure and sums */

    NM_EVENT_KIND_MAX = 63 /* kinds fit in six bits */
} nm_event_kind;

typedef enum nm_keyframe {
    NM_KEYFRAME_BEGIN = 0,
    NM_KEYFRAME_END = 63, /* it is whole; between them NM_EVENT_ALLOC or NM_EVENT_MAP */
} nm_keyframe;

typedef enum nm_heap_figure {
    NM_HEAP_SUMS =
        0, /* the sums; peak_bytes live_count number (its seq) time_ns: of the peak; size_bytes miss_count: of the
                         baseline */
    NM_HEAP_HITS = 1, /* 1, 2, 3: of small, medium and large requests: count miss_count number (seq of the last miss)
                         time_ns */
    NM_HEAP_SEGMENTS =
        4,              /* peak_bytes: most that was reserved, number: its seq; live_bytes: reserved at the peak; count
                             ended_count: 1 where a block of unknown size or of another pool was met */
    NM_HEAP_STATED = 5, /* the same of what the pool states; block_bytes: what it stated last */
    NM_HEAP_DEVICE = 6, /* no heap: peak_bytes number time_ns of the peak of a device */
} nm_heap_figure;

enum {                     /* nm_event.flags */
       NM_FLAG_STREAM = 1, /* `stream` is known (0 is a stream of its own: the default one) */
       NM_FLAG_MISS = 2,   /* ALLOC: the pool says that it had to grow */
       NM_FLAG_HIT = 4,    /* ALLOC: the pool says that it served this by itself; neither flag: the replay finds out */
       NM_FLAG_ASYNC = 8,  /* COPY: queued on a stream */
       NM_FLAG_BASELINE =
           16,            /* ALLOC, MAP: was there before the recording began; comes first and has no number in order */
       NM_FLAG_LATE = 32, /* written after events with later stamps: its place in the order is not certain */
       NM_FLAG_IDLE = 64, /* STATE_BLOCK: free */
       NM_FLAG_NO_STACK = 128, /* the reader lost the block that defined the stack of this event */
       NM_FLAG_PENDING = 256,  /* baseline ALLOC or STATE_BLOCK: its free has been requested already */
       NM_FLAG_SEGMENT =
           512, /* ALLOC, MAP of a driver heap: a pool's segment from its birth, also before its first block. A source
                   whose driver memory is all a caching allocator's own (a snapshot) sets it on every one. */
       NM_FLAG_TOTAL = 1024,  /* ALLOC: block_bytes is what the heap has handed out in all, this block included */
       NM_FLAG_DRIVER = 2048, /* FREE, UNMAP: seen where the runtime calls the driver. It may free what nobody saw it
                                allocate, or free later what the program has freed: neither is misuse */
       NM_FLAG_REPEAT =
           4096, /* stands for what was said in an earlier part of the recording already. A LOSS: all of its
                                thread's so far */
       NM_FLAG_EXPORTED = 8192, /* KEYFRAME: EXPORT has been said of it */
       NM_FLAG_PAUSED =
           16384, /* happened while the recording was paused: time, stack and thread of it are not known. In a
                                 ring: recorded without a stack, because the recording is paused */
       NM_FLAG_AT_LEAST = 32768, /* LOSS: so many are known to be lost, and there may be more */
       NM_FLAG_FREE_KNOWN =
           65536, /* ALLOC_FAILED: free_bytes is known, also if it is 0; not in a trace, where total_bytes says so */
       NM_FLAG_POOL_STREAM = 131072, /* ALLOC, MAP: pool_stream is known; not in a trace */
};

/* Which call freed: the pairs are strict on Ascend. The first three mean driver, pinned, registered and host memory. */
typedef enum nm_free_call {
    NM_FREE_ANY = 0,
    NM_FREE_DEVICE = 1,     /* aclrtFree */
    NM_FREE_HOST = 2,       /* aclrtFreeHost */
    NM_FREE_PHYSICAL = 3,   /* aclrtFreePhysical: physical or imported memory, `address` is the handle */
    NM_FREE_REGISTERED = 4, /* aclrtHostUnregister: registered memory alone */
    NM_FREE_IMPORTED = 5,   /* aclrtIpcMemClose: imported memory alone */
    NM_FREE_POOL = 6,       /* aclrtMemPoolFreeAsync: a block of whichever pool has one at the address */
} nm_free_call;

/* 0 to 7 are aclrtMemcpyKind (CANN's acl_rt.h); memset is ours. */
/* Modules of CANN, as its public headers number them: those that something here asks for by number. */
typedef enum nm_cann_module {
    NM_MODULE_UNKNOWN = 0, /* what older runtimes say of everything */
    NM_MODULE_DVPP = 6,
    NM_MODULE_APP = 33, /* the program itself, its framework included */
} nm_cann_module;

typedef enum nm_copy_kind {
    NM_COPY_HOST_TO_HOST = 0,
    NM_COPY_HOST_TO_DEVICE = 1,
    NM_COPY_DEVICE_TO_HOST = 2,
    NM_COPY_DEVICE_TO_DEVICE = 3,
    NM_COPY_DEFAULT = 4,
    NM_COPY_HOST_TO_BUFFER_TO_DEVICE = 5,
    NM_COPY_INNER_DEVICE = 6,
    NM_COPY_INTER_DEVICE = 7,
    NM_COPY_MEMSET = 100,
} nm_copy_kind;

typedef enum nm_range_kind {
    NM_RANGE_USER = 0,
    NM_RANGE_OPERATOR = 1,
    NM_RANGE_ANNOTATION = 2, /* of a framework, e.g. record_function */
    NM_RANGE_MODEL = 3,      /* an offline model, as a whole */
    NM_RANGE_CATEGORY = 4,   /* from 1.5 on: what is allocated in it is what its name says */
    NM_RANGE_MODULE = 5,     /* from 1.5 on: the forward of a module of a model; the name is its path, with dots */
    NM_RANGE_MODEL_LOAD = 6, /* from 1.5 on: an offline model, or several of one file, are loaded; and unloaded */
    NM_RANGE_MODEL_UNLOAD = 7,
    NM_RANGE_KIND_MAX = NM_RANGE_MODEL_UNLOAD,
} nm_range_kind;

/* 0 to 17 are aclrtMemAttr (CANN's acl_rt.h); from 100 on ours: a process's host memory, from Linux's /proc/PID/status, and what is around it. */
typedef enum nm_memory_kind {
    NM_MEMORY_DDR = 0,
    NM_MEMORY_HBM = 1,
    NM_MEMORY_ATTR_MAX = 17,
    NM_MEMORY_HOST_RESIDENT = 100,  /* VmRSS: the three below and files that are mapped */
    NM_MEMORY_HOST_ANONYMOUS = 101, /* RssAnon: heaps and stacks */
    NM_MEMORY_HOST_SHARED = 102,    /* RssShmem: shared memory that it has touched */
    NM_MEMORY_HOST_STACK = 103,     /* VmStk: the main thread's stack */
    NM_MEMORY_HOST_PEAK = 104,      /* VmHWM: the most that HOST_RESIDENT was */
    NM_MEMORY_HOST_MAX = NM_MEMORY_HOST_PEAK,
    NM_MEMORY_HOST_CGROUP =
        105, /* from 1.5 on: of the memory cgroup of the process, or that around it, whose limit (total)
                                     leaves least; without files that the kernel lets go of first. None: no limit */
    NM_MEMORY_HOST_MACHINE = 106, /* from 1.5 on: MemTotal less MemAvailable */
} nm_memory_kind;

typedef enum nm_device_call {
    NM_DEVICE_INIT = 1,
    NM_DEVICE_FINALIZE = 2,
    NM_DEVICE_SET = 3,
    NM_DEVICE_RESET = 4,
    NM_DEVICE_RESET_FORCE = 5,
    NM_DEVICE_CONTEXT_CREATE = 6, /* up to 1.4, as the next: see NM_STREAM_CONTEXT_CREATE */
    NM_DEVICE_CONTEXT_DESTROY = 7,
    NM_DEVICE_CONTEXT_SET = 8,
} nm_device_call;

typedef enum nm_stream_call {
    NM_STREAM_CREATE = 1,
    NM_STREAM_DESTROY = 2,
    NM_STREAM_SYNCHRONIZE = 3, /* waits for all work on the stream */
    NM_STREAM_SYNCHRONIZE_DEVICE = 4,
    NM_STREAM_WAIT_EVENT = 5, /* work on the stream waits for the event */
    NM_STREAM_EVENT_CREATE = 6,
    NM_STREAM_EVENT_DESTROY = 7,
    NM_STREAM_EVENT_RECORD = 8,
    NM_STREAM_EVENT_SYNCHRONIZE = 9,
    NM_STREAM_EVENT_RESET = 10,
    NM_STREAM_ALLOCATOR_REGISTER = 11, /* operators on the stream take memory from the program's own allocator */
    NM_STREAM_ALLOCATOR_UNREGISTER = 12,
    NM_STREAM_CAPTURE_BEGIN = 13, /* from 1.3 on, as all below; number: the graph that is added to, or 0 */
    NM_STREAM_CAPTURE_END = 14,   /* number: the graph */
    NM_STREAM_GRAPH_EXECUTE = 15, /* likewise */
    NM_STREAM_GRAPH_DESTROY = 16, /* likewise */
    NM_STREAM_NOTIFY_CREATE = 17, /* from 1.5 on, as all below; number: the notify */
    NM_STREAM_NOTIFY_DESTROY = 18,
    NM_STREAM_CONTEXT_CREATE = 19, /* number: the context */
    NM_STREAM_CONTEXT_DESTROY = 20,
    NM_STREAM_CALL_MAX = NM_STREAM_CONTEXT_DESTROY,
} nm_stream_call;

/* Of the runtime, as their functions are called; from 1.5 on. */
typedef enum nm_object_kind {
    NM_OBJECT_TENSOR = 1, /* aclCreateTensor */
    NM_OBJECT_TENSOR_LIST = 2,
    NM_OBJECT_SCALAR = 3,
    NM_OBJECT_SCALAR_LIST = 4,
    NM_OBJECT_INT_ARRAY = 5,
    NM_OBJECT_FLOAT_ARRAY = 6,
    NM_OBJECT_BOOL_ARRAY = 7,
    NM_OBJECT_DATA_BUFFER = 8,  /* aclCreateDataBuffer */
    NM_OBJECT_DATASET = 9,      /* aclmdlCreateDataset */
    NM_OBJECT_MODEL_DESC = 10,  /* aclmdlCreateDesc */
    NM_OBJECT_TENSOR_DESC = 11, /* aclCreateTensorDesc */
    NM_OBJECT_KIND_MAX = NM_OBJECT_TENSOR_DESC,
} nm_object_kind;

typedef enum nm_note {
    NM_NOTE_MISSING_FUNCTION = 1,  /* text: a function the program asked for, which its runtime lacks */
    NM_NOTE_OTHER_TOOL = 2,        /* text: another library that stands in front of the same functions */
    NM_NOTE_UNSEEN_LIBRARY = 3,    /* text: a library whose calls could not be led through the hooks */
    NM_NOTE_UNSEEN_OPERATOR = 4,   /* text: an operator that could not be wrapped; number: how many more */
    NM_NOTE_NO_POOL_EVENTS = 5,    /* text: why the framework's pool does not tell its events */
    NM_NOTE_PYTHON_UNREADABLE = 6, /* text: why Python frames are not read */
    NM_NOTE_PYTHON_UNCHECKED = 7,  /* text: which interpreter; its frames are read, but no recorded call held its lock,
                                      so that they were never compared with its own answers */
    NM_NOTE_NO_RING = 8, /* text: why threads of the process had no ring; their events are counted as dropped */
    NM_NOTE_UNSEEN_PROCESS =
        9,                    /* text: why processes could not be recorded; number: how many, 0: not known. Of one that
                                   used a device unrecorded: "pid PID, COMMAND: WHAT; WHY". What they did is in no
                                   count, so the input is not complete */
    NM_NOTE_UNREAD_PART = 10, /* text: a part of the file of which nothing is known; number: how many there are */
    NM_NOTE_OTHER_TOTAL = 11, /* text: a heap of which the file states what its events do not give; number: how often */
    NM_NOTE_MAX = NM_NOTE_OTHER_TOTAL,
} nm_note;

typedef enum nm_process_end {
    NM_PROCESS_RUNNING = 0, /* still there when the recording ended */
    NM_PROCESS_EXIT = 1,    /* error_code = exit status, or -1 where it could not be seen */
    NM_PROCESS_SIGNAL = 2,  /* error_code = signal number, or -1 where it could not be seen */
    NM_PROCESS_EXEC = 3,    /* replaced itself by another program */
} nm_process_end;

typedef enum nm_pause_detail {
    NM_PAUSE_BEGIN = 1,        /* nothing of its memory is told */
    NM_PAUSE_END = 2,          /* what is live now is known: all that the trace did not know has just been told */
    NM_PAUSE_END_UNKNOWN = 3,  /* it is not: memory may be freed that the trace has never seen */
    NM_PAUSE_BEGIN_MEMORY = 4, /* its memory is told on, without stacks */
} nm_pause_detail;

typedef enum nm_loss {
    NM_LOSS_RING_FULL = 1,  /* the drain was too slow or gone */
    NM_LOSS_NO_RING = 2,    /* no room for a ring */
    NM_LOSS_UNREADABLE = 3, /* a slot was claimed and never published (a killed thread), or was overwritten */
    NM_LOSS_UNWRITTEN = 4,  /* the trace's disk was full */
} nm_loss;

/* One event. Every field is 64 bits wide, so that a codec can treat it as an array: see nm_field. */
typedef struct nm_event {
    uint64_t seq;       /* place in the order of the stream, from 0; not a column: it follows from the block */
    uint64_t kind;      /* nm_event_kind */
    int64_t time_ns;    /* since the recording began, or NM_NO_TIME */
    uint64_t flags;     /* NM_FLAG_* */
    uint64_t thread_id; /* 0: unknown */
    uint64_t heap_id;
    uint64_t address;
    uint64_t requested_bytes; /* what was asked for; 0: unknown */
    uint64_t block_bytes;     /* what was handed out; 0: unknown */
    uint64_t stack_id;
    uint64_t stream; /* meaningful with NM_FLAG_STREAM */
    uint64_t
        policy; /* driver: aclrtMemMallocPolicy; physical and mapped: aclrtMemAttr; registered: the flags; pool: private pool
                         or 0 (a snapshot's (a, b): a * 2^32 + b) */
    uint64_t cost_ns; /* how long the call took; 0: unknown */
    int64_t error_code;
    uint64_t name_id; /* string */
    int64_t number;
    uint64_t detail; /* an enum above, by kind */
    uint64_t device_id;
    uint64_t source_address;
    uint64_t size_bytes;  /* COPY: bytes moved */
    uint64_t limit_bytes; /* COPY: room at the target (destMax, maxCount) */
    uint64_t free_bytes;  /* of the device */
    uint64_t total_bytes; /* of the device */
    int64_t until_ns;     /* LOSS */
    uint64_t model_id;    /* RANGE_BEGIN of a model */

    /* Of keyframes and totals. Allocated bytes are block_bytes, and freed bytes are free_bytes. */
    uint64_t process_id;
    uint64_t count;       /* allocations */
    uint64_t ended_count; /* of these */
    uint64_t miss_count;
    uint64_t live_bytes, live_count;
    uint64_t peak_bytes;
    uint64_t generation; /* steps of the process that had begun */
    int64_t first_seq, last_seq;
    uint64_t pool_id; /* heap. Of an ALLOC or MAP of driver memory, and the two below: what source/claims.h tells */

    uint64_t pool_stream; /* of the first block in it; meaningful with NM_FLAG_POOL_STREAM */
    uint64_t private_pool;
} nm_event;

/* The columns of a block: bit n of a kind's field mask says that its events carry field n. Numbers stand in trace files. */
typedef enum nm_field {
    NM_FIELD_TIME = 0,
    NM_FIELD_FLAGS,
    NM_FIELD_THREAD,
    NM_FIELD_HEAP,
    NM_FIELD_ADDRESS,
    NM_FIELD_REQUESTED,
    NM_FIELD_BLOCK,
    NM_FIELD_STACK,
    NM_FIELD_STREAM,
    NM_FIELD_POLICY,
    NM_FIELD_COST,
    NM_FIELD_ERROR,
    NM_FIELD_NAME,
    NM_FIELD_NUMBER,
    NM_FIELD_DETAIL,
    NM_FIELD_DEVICE,
    NM_FIELD_SOURCE_ADDRESS,
    NM_FIELD_SIZE,
    NM_FIELD_LIMIT,
    NM_FIELD_FREE,
    NM_FIELD_TOTAL,
    NM_FIELD_UNTIL,
    NM_FIELD_MODEL,
    NM_FIELD_PROCESS,
    NM_FIELD_ALLOCATION_COUNT,
    NM_FIELD_ENDED_COUNT,
    NM_FIELD_MISS_COUNT,
    NM_FIELD_LIVE,
    NM_FIELD_LIVE_COUNT,
    NM_FIELD_PEAK,
    NM_FIELD_GENERATION,
    NM_FIELD_FIRST_SEQ,
    NM_FIELD_LAST_SEQ,
    NM_FIELD_POOL,
    NM_FIELD_COUNT
} nm_field;

/* The fields that this version writes for a kind, as bits; 0 for a kind it does not know. */
uint64_t nm_event_fields(nm_event_kind kind);

/* Does it say again what was before it? Such events are not counted. */
static inline bool nm_event_is_repeat(const nm_event *event)
{
    return (event->flags & NM_FLAG_REPEAT) != 0 ||
           (event->kind >= NM_EVENT_KEYFRAME && event->kind <= NM_EVENT_HEAP_TOTAL);
}

/* The place of a field inside an event. */
extern const uint16_t nm_event_field_offsets[NM_FIELD_COUNT];
static inline uint64_t *nm_event_field(nm_event *event, nm_field field)
{
    return (uint64_t *)((char *)event + nm_event_field_offsets[field]);
}

/* ---- Definitions ------------------------------------------------------------------------------------------------- */

typedef enum nm_definition_kind {
    NM_DEFINE_STRING = 1,
    NM_DEFINE_PROCESS = 2,
    NM_DEFINE_THREAD = 3,
    NM_DEFINE_DEVICE = 4,
    NM_DEFINE_HEAP = 5,
    NM_DEFINE_MODULE = 6,
    NM_DEFINE_FRAME = 7,
    NM_DEFINE_STACK = 8,
    NM_DEFINE_ALIAS = 9,      /* for recovery alone: how a ring called a stack, a heap or a device */
    NM_DEFINE_ATTRIBUTE = 10, /* of a process: what was set or installed */
    NM_DEFINE_KIND_MAX = NM_DEFINE_ATTRIBUTE,
} nm_definition_kind;

typedef enum nm_attribute_source {
    NM_ATTRIBUTE_ENVIRONMENT = 1, /* a variable, as the process was started with */
    NM_ATTRIBUTE_VERSION = 2,     /* of what it runs on */
    NM_ATTRIBUTE_HCCL = 3,        /* a communicator: its description, and "rank R of N" */
} nm_attribute_source;

typedef enum nm_heap_level { /* DESIGN.md section 4 */
                             NM_LEVEL_DRIVER = 1,
                             NM_LEVEL_POOL = 2,
                             NM_LEVEL_WORKSPACE = 3,
                             NM_LEVEL_PINNED = 4,
                             NM_LEVEL_REGISTERED = 5,
                             NM_LEVEL_HOST = 6,
                             NM_LEVEL_PHYSICAL = 7, /* of the device, by its handle; mapped or not */
                             NM_LEVEL_IMPORTED = 8, /* of another process; counted there */
                             NM_LEVEL_MAX = NM_LEVEL_IMPORTED,
} nm_heap_level;

typedef enum nm_size_basis { /* which of an allocation's sizes running sums use */
                             NM_BASIS_REQUESTED = 1,
                             NM_BASIS_BLOCK = 2,
} nm_size_basis;

/* By which rules a pool cuts the blocks of which only the requested size is told. In no trace: a snapshot's source knows. */
typedef enum nm_block_cut {
    NM_CUT_UNKNOWN = 0,
    NM_CUT_TORCH =
        1, /* rounded to 512 bytes; above 1 MiB, in a segment that is not mapped, a rest of up to 1 MiB stays */
    NM_CUT_TORCH_NPU = 2, /* the same, of 32 bytes more than were asked for */
} nm_block_cut;

#define NM_UNKNOWN_NUMBER INT64_MIN  /* a signed attribute that is not known: NULL in the database */
#define NM_POLICY_UNKNOWN UINT32_MAX /* nm_event.policy of memory of which it is not known: NULL in the database */

#define NM_ALIAS_HEAP     (UINT64_C(1) << 32) /* in alias.local_id, above the number of a process's own */
#define NM_ALIAS_DEVICE   (UINT64_C(2) << 32)
#define NM_ALIAS_FRAME    (UINT64_C(3) << 32) /* a Python frame of a thread */

/* One definition. `id` is its number; the fields used depend on the kind. Strings are numbers of earlier strings. */
typedef enum nm_stack_end { /* what is known of a stack's outermost frame */
                            NM_STACK_END_UNKNOWN = 0,
                            NM_STACK_END_WHOLE = 1, /* nothing called it */
                            NM_STACK_END_CUT = 2,   /* its caller could not be found */
} nm_stack_end;

typedef struct nm_definition {
    uint64_t kind; /* nm_definition_kind */
    uint64_t id;
    union {
        nm_bytes string; /* borrowed: valid until the next call to the reader; UTF-8 by custom, any bytes by right */
        struct {
            uint64_t parent_id; /* process or 0 */
            int64_t pid;
            uint64_t host;                        /* string */
            uint64_t command;                     /* string: the arguments, joined by spaces */
            int64_t rank, local_rank, world_size; /* or NM_UNKNOWN_NUMBER */
            int64_t run_mode;                     /* aclrtRunMode (0 device, 1 host) or NM_UNKNOWN_NUMBER */
            int64_t begin_ns;                     /* or NM_NO_TIME */
            uint64_t is_late; /* 1: it ran before its recording began, so that what was live then is not known */
        } process;
        struct {
            uint64_t process_id;
            int64_t tid;
            uint64_t name;    /* string */
            uint64_t ring_id; /* the ring whose slots its sequence counts; 0 outside recorded traces */
        } thread;
        struct {
            uint64_t process_id;
            int64_t ordinal;          /* as the process counts */
            int64_t physical_ordinal; /* or NM_UNKNOWN_NUMBER */
            uint64_t device_kind;     /* string: "npu", "gpu" */
            uint64_t name;            /* string, e.g. the SoC */
            uint64_t capacity_bytes;  /* 0: unknown */
        } device;
        struct {
            uint64_t process_id;
            uint64_t device_id;   /* 0: host memory */
            uint64_t level;       /* nm_heap_level */
            uint64_t name;        /* string */
            uint64_t size_basis;  /* nm_size_basis */
            uint64_t small_bytes; /* requests below it are small; 0: the default, 4 KiB */
            uint64_t large_bytes; /* requests above it are large; 0: the default, 1 MiB */
            uint64_t module_id;   /* of CANN (HCCL 3, RUNTIME 7, APP 33, GE 45, ...), for memory that the driver gave;
                                     0: the program itself, or unknown */
            uint64_t block_cut;   /* nm_block_cut; not in a trace */
        } heap;
        struct {
            uint64_t process_id;
            uint64_t path; /* string */
            uint64_t base; /* address that offset 0 was loaded at */
            uint64_t bytes;
            nm_bytes build_id; /* borrowed; empty when unknown */
        } module;
        struct {
            uint64_t function; /* string, demangled; 0: unknown */
            uint64_t file;     /* string */
            uint64_t line;     /* 0: unknown */
            uint64_t module;   /* string: path of the module */
            uint64_t offset;   /* in the module, of the call (return address minus one) */
            uint64_t
                inlined_in;     /* frame: the function that this one was inlined into, at the place of the call; or 0 */
            uint64_t module_id; /* the same file's module in one of the processes; 0: unknown */
        } frame;
        struct {
            uint64_t parent_id; /* the caller's stack; 0: outermost */
            uint64_t frame_id;
            uint64_t end; /* nm_stack_end, of the outermost alone */
        } stack;
        struct {
            uint64_t process_id;
            uint64_t source;      /* nm_attribute_source */
            uint64_t name, value; /* strings; the same name and process: the last value holds */
        } attribute;
        struct {
            uint64_t thread_id; /* of a heap or a device: the process */
            uint64_t local_id;  /* its own number for the stack `id`; plus NM_ALIAS_* for others */
        } alias;
    };
} nm_definition;

/* Of a device, as views say it: as the machine counts, or where that is not known, as its process does. */
static inline int64_t nm_shown_device(const nm_definition *definition)
{
    return definition->device.physical_ordinal != NM_UNKNOWN_NUMBER ? definition->device.physical_ordinal
                                                                    : definition->device.ordinal;
}

/* ---- Both, in one stream ----------------------------------------------------------------------------------------- */

typedef enum nm_record_kind { NM_RECORD_DEFINITION = 1, NM_RECORD_EVENT = 2 } nm_record_kind;

typedef struct nm_record {
    nm_record_kind kind;
    union {
        nm_definition definition; /* what it borrows is valid until the next call */
        nm_event event;
    };
} nm_record;

#endif
