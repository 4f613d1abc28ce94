/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass is an answer that is told. The replay keeps the books (state.h) and says what changes in them; a pass keeps what
 * its answer needs in rooms of its own, and gives rows. It reads the books and the rooms of the passes that it needs, and
 * writes its own alone; but a function that a pass offers to those that need it may write that pass's rooms: calls go down
 * only. The replay knows no pass: whoever makes one brings a table of them (analysis/passes.h). A pass does not run where
 * nobody wants its rows and no pass that runs needs it, and a change that no running pass wants costs the test of one word.
 *
 *     static nm_status take_peak(nm_run *run, const nm_change *change, nm_error *err)
 *     {
 *         heap_room *room = nm_heap_room(run, change->heap);
 *         ...
 *     }
 *
 *     const nm_pass nm_example_pass = {
 *         .name = "example",
 *         .gives = {[NM_ROW_EXAMPLE] = true},
 *         .wants = {[NM_CHANGE_PEAKED] = take_peak},
 *         .room = {[NM_OWNER_HEAP] = sizeof(heap_room)},
 *         .finish = finish,
 *     };
 *
 * Nothing is told twice: a pass adds up what the kinds that it wants say.
 *
 * Where a recording is kept in parts, a part begins with a keyframe: the books as events (keyframe.c), from which a replay goes
 * on that has not seen what was before. A pass that adds up over the whole recording saves its sums into it, and restores
 * them; without, its answer is of what was kept. It asks what it reads whether it was told all: nm_pool_is_partial() and the
 * like, and `is_kept` of what is live, which NM_CHANGE_BORN tells again. `save` may be called many times, and the pass goes
 * on; `restore` gets every event of the keyframe, the pass's own among them, in the order in which they were saved. What an
 * event means is for ever: a pass that has more to say takes a heap figure (nm_heap_figure) or a kind of event that has no
 * meaning yet, which older readers pass over, and takes a keyframe that lacks it as one that does not know, not as 0.
 */
#ifndef NM_REPLAY_PASS_H
#define NM_REPLAY_PASS_H

#include "replay/state.h"
#include "rows/sink.h"

/* What has changed, and the fields of nm_change that say more. Told after the books have it, except where "about to" is
 * said. `context` is the event that made the change; NULL where a definition or the end of the stream did. */
typedef enum nm_change_kind {
    NM_CHANGE_DEFINED,      /* definition: as it is given, once the books have it; its bytes are gone after the call */
    NM_CHANGE_BEGUN,        /* about to come: the first event in order. What there is was there before */
    NM_CHANGE_EVENT,        /* any event, about to take effect; only those that repeat what was before are not told */
    NM_CHANGE_HEAP_DEFINED, /* heap */
    NM_CHANGE_DEVICE_MOVED, /* device: it turns out to be other hardware than `hardware` */

    /* Memory: `live`. Its room is zeroed when it is told first. */
    NM_CHANGE_COMING, /* about to be born: it has its row and site, and lies nowhere yet */
    NM_CHANGE_BORN,   /* seen, of the baseline, or kept. Blocks of pools: driver_count and driver_cost_ns of the ranges
                           that it is the first to touch */
    NM_CHANGE_REMAINED,    /* what is left of a cut range goes on as one of its own */
    NM_CHANGE_GIVEN_UP,    /* the program asked to free it, and it is not free yet */
    NM_CHANGE_ENDING,      /* about to end, as its row says: `bytes` of it are gone; is_whole: nothing is left of it */
    NM_CHANGE_REFUSED,     /* the end that was told last of its thread did not happen: it is live again */
    NM_CHANGE_ENDED,       /* its end stands, and its row is about to be given */
    NM_CHANGE_OUTSTANDING, /* the stream has ended, and it is live */
    NM_CHANGE_UNEXPLAINED, /* `replaced` ended because another began at its address, and no free of it came */

    /* Sums. */
    NM_CHANGE_SITE, /* heap, site: what is live of it, or what of that graphs hold; it had before_bytes that none held */
    NM_CHANGE_PEAKED,   /* heap: its live bytes are more than ever; after what made it so was told */
    NM_CHANGE_RESERVED, /* heap: a pool that holds more than ever, or has served the request that it grew for; after
                           NM_CHANGE_SETTLED of it */
    NM_CHANGE_SETTLED,  /* heap: all that the event changes in it is done; after it, in no order, other heaps */
    NM_CHANGE_DONE, /* all that the event or the definition changes is done: in the heaps from replay->first_touched on,
                           each of them once. Not told where there is none */

    /* Segments: `live` is the driver's range, `heap` the pool that owns it. */
    NM_CHANGE_SEGMENT_IN,   /* is_first: it has become the pool's; else it is back */
    NM_CHANGE_SEGMENT_USED, /* `block`, of that pool or of another, lies in it */
    NM_CHANGE_SEGMENT_OUT, /* about to lose [from, to), `bytes` of it; is_whole, or else `left` and `right` (NULL: nothing is
                               left there) go on for it. is_given_back: to the driver */

    /* The program. */
    NM_CHANGE_OPERATION_BEGUN, /* operation */
    NM_CHANGE_WORKSPACE, /* operation: it works in `live` (NULL: not known), as `workspace` says. is_first: whose block it
                                  is was not known before */
    NM_CHANGE_OPERATION_ENDED, /* operation: it has its end, and is still the innermost of its thread, if it was */
    NM_CHANGE_STEP_ENDED,    /* process: about to end its step, or what was before the first; is_last: of the process */
    NM_CHANGE_PROCESS_ENDED, /* process: as the event says, which may be that it went on */
    NM_CHANGE_STREAM_CALL,   /* about streams, events or graphs; after NM_CHANGE_FAILED where it failed */
    NM_CHANGE_STREAMS_GONE,  /* process, device (NULL: all of it): what was created on it may be gone */
    NM_CHANGE_PAUSED,        /* process: what comes is not recorded in full */
    NM_CHANGE_LOST,          /* process (NULL: of any): events of it may be missing up to here */

    /* What events say that changes nothing in the books. */
    NM_CHANGE_FAILED,  /* an allocation or a call about streams, for want of memory */
    NM_CHANGE_COPIED,  /* a copy or a memset */
    NM_CHANGE_MARKED,  /* a mark */
    NM_CHANGE_OBJECTS, /* objects of the runtime: NM_EVENT_OBJECTS */
    NM_CHANGE_SAMPLED, /* what a device, the host or a module says of itself */
    NM_CHANGE_LISTED, /* heap: what the source itself lists of a pool at the end, a segment (live: the range there, or NULL)
                          or what is in it (live: the block there, or NULL). part: of the pool, that it is of, or NULL */
    NM_CHANGE_UNKNOWN_FREED,    /* nothing live begins where this frees; `place` (or NULL): what did */
    NM_CHANGE_UNKNOWN_UNMAPPED, /* nothing is mapped where this unmaps */

    NM_CHANGE_END, /* no event comes any more; the books are as the last one left them */
    NM_CHANGE_KINDS
} nm_change_kind;

/* Made millions of times: small enough that compilers zero it with a few stores, and do not call or loop for it. Of a union a
 * kind has one member at most. */
typedef struct nm_change {
    nm_change_kind kind;
    bool is_first, is_last, is_whole, is_given_back;
    const nm_context *context;
    const nm_live *live;
    const nm_heap *heap;
    const nm_process *process;
    union {
        const nm_definition *definition;
        const nm_operation *operation;
        const nm_device *device;
        const nm_live *right;
    };
    union {
        const nm_live *block;
        const nm_place *place;
        const nm_replaced *replaced;
        const nm_site *site;
        const nm_workspace_row *workspace;
        const nm_live *left;
        const nm_sub_pool *part;
        const nm_device_group *hardware;
    };
    union {
        struct {
            uint64_t from, to;
        };
        struct {
            uint64_t driver_count, driver_cost_ns;
        };
        uint64_t before_bytes;
    };
    uint64_t bytes;
} nm_change;

/* Whose private bytes a pass may have: zeroed when their owner is made, and gone with it. What a room owns the pass frees in
 * `release` at the latest, and must find it without the room of a live allocation, a past or an operation. */
typedef enum nm_owner {
    NM_OWNER_REPLAY,
    NM_OWNER_PROCESS,
    NM_OWNER_THREAD,
    NM_OWNER_DEVICE,
    NM_OWNER_HARDWARE, /* nm_device_group */
    NM_OWNER_HEAP,
    NM_OWNER_SUB_POOL,
    NM_OWNER_SITE,
    NM_OWNER_PAST,
    NM_OWNER_LIVE,
    NM_OWNER_OPERATION,
    NM_OWNERS
} nm_owner;

typedef struct nm_keyframe_out nm_keyframe_out;                                 /* keyframe.h */
typedef nm_status nm_told(nm_run *run, const nm_change *change, nm_error *err); /* what a pass does with a change */

struct nm_pass {
    const char *name;
    bool gives[NM_ROW_KINDS];        /* rows that it gives; alone, but for anomalies (analysis/anomaly.h) */
    const nm_pass *const *needs;     /* whose rooms it reads, then NULL; or NULL. They are told first */
    nm_told *wants[NM_CHANGE_KINDS]; /* what it is told */
    bool at_times[NM_CHANGE_KINDS];  /* what of it only while it says so: nm_run_hear */
    size_t room[NM_OWNERS];          /* bytes */
    nm_status (*finish)(nm_run *run, nm_error *err); /* all is told: what is left to give; or NULL */
    void (*release)(nm_run *run);                    /* the replay goes, finished or not; or NULL */

    /* Both or none. What it knows of the heap, right behind the sums of that in the books; then, when all heaps have theirs,
     * what it knows of everything else (heap NULL). And an event of a keyframe, once the books have it. */
    nm_status (*save)(const nm_run *run, const nm_heap *heap, const nm_keyframe_out *out, nm_error *err);
    nm_status (*restore)(nm_run *run, const nm_context *context, nm_error *err);
};

/* A pass in one replay. */
struct nm_run {
    const nm_replay *replay;
    const nm_pass *pass;
    nm_run *needs[NM_PASS_NEEDS_MAX]; /* in the order of pass->needs */
    void *own;                        /* its room of the replay; owned */
    size_t offset[NM_OWNERS];         /* of its room from the begin of the owner */
    uint64_t heard;                   /* a bit for each nm_change_kind that it is told now */
};

/* ---- For passes ---------------------------------------------------------------------------------------------------- */

static inline void *nm_replay_room(const nm_run *run)
{
    return run->own;
}

/* nm_heap_room(run, heap) and so on: the pass's private bytes of it. */
#define NM_ROOM_OF(name, type, owner)                                                                                  \
    static inline void *name(const nm_run *run, const type *object)                                                    \
    {                                                                                                                  \
        return (char *)(uintptr_t)object + run->offset[owner];                                                         \
    }
NM_ROOM_OF(nm_process_room, nm_process, NM_OWNER_PROCESS)
NM_ROOM_OF(nm_thread_room, nm_thread, NM_OWNER_THREAD)
NM_ROOM_OF(nm_device_room, nm_device, NM_OWNER_DEVICE)
NM_ROOM_OF(nm_hardware_room, nm_device_group, NM_OWNER_HARDWARE)
NM_ROOM_OF(nm_heap_room, nm_heap, NM_OWNER_HEAP)
NM_ROOM_OF(nm_sub_pool_room, nm_sub_pool, NM_OWNER_SUB_POOL)
NM_ROOM_OF(nm_site_room, nm_site, NM_OWNER_SITE)
NM_ROOM_OF(nm_past_room, nm_past, NM_OWNER_PAST)
NM_ROOM_OF(nm_live_room, nm_live, NM_OWNER_LIVE)
NM_ROOM_OF(nm_operation_room, nm_operation, NM_OWNER_OPERATION)
#undef NM_ROOM_OF

/* From now on the run is told what its pass wants at times, or no more; at first it is not. While nobody hears a kind, the
 * kind costs the test of one word: a pass that has something to wait for now and then hears every event only then. */
void nm_run_hear(nm_run *run, nm_change_kind kind, bool is_heard);

/* ---- For the replay ------------------------------------------------------------------------------------------------ */

/* Chooses which of the passes (then NULL; or NULL) run, by what the replay's sink wants, and lays out their rooms. Before
 * anything that has rooms is made. */
nm_status nm_runs_new(nm_replay *replay, const nm_pass *const *table, nm_error *err);
size_t nm_runs_bytes_of(const nm_replay *replay, nm_owner owner); /* of the struct and of all rooms behind it */
nm_status nm_runs_tell(const nm_replay *replay, const nm_change *change,
                       nm_error *err); /* those who want it, in order */
nm_status nm_runs_save(const nm_replay *replay, const nm_heap *heap, const nm_keyframe_out *out, nm_error *err);
nm_status nm_runs_restore(const nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_runs_finish(const nm_replay *replay, nm_error *err);
void nm_runs_free(nm_replay *replay); /* while all that has rooms is still there */

/* NM_TELL(replay, NM_CHANGE_BORN, err, .live = live, ...): tells it if somebody wants it. */
#define NM_TELL(replay, change_kind, err, ...)                                                                         \
    (((replay)->wanted >> (change_kind)&1) == 0                                                                        \
         ? NM_OK                                                                                                       \
         : nm_runs_tell((replay), &(nm_change){.kind = (change_kind), __VA_ARGS__}, (err)))

#endif
