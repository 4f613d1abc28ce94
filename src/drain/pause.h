/* SPDX-License-Identifier: Apache-2.0
 *
 * Which processes are paused, at every place in the order of events, and what that means for an event.
 *
 * A process is paused by the session (npumem-record --start-paused, --ctl stop), by its own steps (--from-step,
 * --to-step) or by itself (npumem_pause). Its threads then record memory alone, without stacks; where exactly the pause
 * begins and ends is decided here, by the order of events, so that it holds for all threads at once.
 *
 * Where somebody keeps the live set (nm_pauser), nothing of a paused process is written but the few events that keep the
 * trace sound: steps, samples, failures, losses, ends. All others go to the keeper alone. Before the process is written
 * again, and before a failure, a snapshot or its end, the keeper brings the trace up to date: ends for what died
 * meanwhile, beginnings for what was born. Where nobody keeps it, memory events are written all the time.
 */
#ifndef NM_DRAIN_PAUSE_H
#define NM_DRAIN_PAUSE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/map.h"
#include "trace/event.h"
#include "trace/ring.h"

/* Writes one event; its time is filled there. */
typedef nm_status nm_pause_put(void *context, nm_event *event, nm_error *err);

typedef struct nm_pauser { /* who keeps the live set */
    void *context;
    /* An event that is not written. */
    void (*unwritten)(void *context, const nm_record *record);
    /* A pause of the process begins: what is live now is what the trace knows. */
    nm_status (*begin)(void *context, uint64_t process, nm_error *err);
    /* Puts what the trace does not know; then it does. NM_END: it is not known any more (out of memory). */
    nm_status (*catch_up)(void *context, uint64_t process, nm_pause_put *put, void *put_context, nm_error *err);
    /* The pause is over. */
    void (*end)(void *context, uint64_t process);
} nm_pauser;

typedef struct nm_pause_process {
    uint64_t number;
    uint32_t reasons; /* NM_PAUSED_*; 0: not paused */
} nm_pause_process;

#define NM_PAUSED_ALL (NM_PAUSED_BY_SESSION | NM_PAUSED_AT_START) /* the session's reasons */

typedef struct nm_pause {
    const nm_pauser *pauser; /* borrowed; NULL: nobody keeps the live set */
    uint32_t session_reasons;
    int64_t from_step, to_step;
    bool is_recovery; /* what was recorded without stacks is left out: the one who knew what is live is gone */
    bool is_used;     /* some process is paused, or may be by its steps */
    nm_map index;     /* process -> index in processes */
    nm_pause_process *processes; /* owned */
    size_t count, capacity;
    uint64_t due;       /* process whose trace must be brought up to date before the next event; 0: none */
    uint64_t caught_up; /* process for which that has just been done, */
    bool is_known;      /* and with success */
} nm_pause;

/* What becomes of an event. */
typedef enum nm_pause_verdict { NM_PAUSE_WRITE, NM_PAUSE_WITHHOLD, NM_PAUSE_FORGET } nm_pause_verdict;

void nm_pause_init(nm_pause *pause, const nm_ring_session *session);
void nm_pause_fini(nm_pause *pause);

/* The place of a process, made when it is new; NULL: out of memory. */
nm_pause_process *nm_pause_of(nm_pause *pause, uint64_t process, nm_error *err);

/* Why it is paused now, or would be at its first event; 0: it is not. */
uint32_t nm_pause_reasons(const nm_pause *pause, uint64_t process);

/* The reasons for which the process is paused after the event; `detail` and `number` are the event's. */
uint32_t nm_pause_reasons_after(const nm_pause *pause, uint32_t reasons, uint64_t kind, uint64_t detail,
                                int64_t number);

/* Must the trace be brought up to date before this event is taken? */
bool nm_pause_is_catch_up_due(const nm_pause *pause, uint32_t reasons, uint64_t kind, uint64_t detail, int64_t number);

nm_pause_verdict nm_pause_judge(const nm_pause *pause, uint32_t reasons, const nm_event *event, bool is_snapshot);

#endif
