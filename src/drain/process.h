/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorded processes: found by their files, defined, watched, and said to have ended, with what is known of how.
 */
#ifndef NM_DRAIN_PROCESS_H
#define NM_DRAIN_PROCESS_H

#include "drain/ring_merge.h"

typedef struct nm_tracked {
    nm_ring_process *shared; /* mapped; NULL once it has ended and that is written */
    size_t map_bytes;
    uint64_t number;
    int64_t pid;
    uint64_t start_time;
    int64_t run_mode, rank, local_rank, world_size; /* as it was defined last */
    uint64_t parent_id;                             /* process or 0 */
    bool was_alive;                                 /* we have seen it run under its pid */
    bool is_replaced;                               /* by exec */
    bool has_left;                                  /* and counted in left_count */
    bool has_children;
    bool is_dead;
    bool is_ended;      /* its PROCESS_END was given to the writer */
    uint64_t dead_pass; /* pass in which it was found dead */
    uint64_t dead_ticks;
    uint64_t lost_ring_count; /* rings that are known to be lost, what stood in them has been said */
} nm_tracked;

typedef struct nm_processes {
    nm_ring_merge *merge; /* borrowed */
    nm_tracked *items;    /* owned; those that have not ended come in any order */
    size_t count, capacity;
    uint64_t *missing; /* numbers whose file is not there yet */
    size_t missing_count, missing_capacity;
    uint64_t refused_count; /* could not take a number; once nm_processes_leave has looked */
    bool is_folder_gone;    /* then: nobody can say */
    uint64_t numbers_seen;
    nm_map by_pid;     /* pid and its namespace -> index of the latest */
    nm_map reaped;     /* pid -> its wait status, below what it had of host memory at most (in KiB) */
    size_t first_open; /* items below it have all ended and are written */
    size_t live_count;
    size_t left_count;  /* became a program that does not record, and nothing followed under that pid */
    size_t dying_count; /* dead, but not said to have ended */
    uint64_t pass;
    bool ends_when_said; /* a process that has said its end counts as ended although it runs on (npumem_stop) */
    bool is_lingering;   /* the program has ended: look closer at what is left */
    nm_status (*before_end)(void *context, uint64_t process, nm_error *err); /* or NULL */
    void *before_end_context;
    uint64_t host_id;       /* string */
    uint64_t machine_bytes; /* of host memory; 0: not asked yet */
    uint64_t pid_namespace; /* our own; 0: unknown */
} nm_processes;

void nm_processes_init(nm_processes *processes, nm_ring_merge *merge);
void nm_processes_fini(nm_processes *processes);

/* Finds new processes and defines them. */
nm_status nm_processes_find(nm_processes *processes, nm_error *err);

/* Notes who has died, and defines again whose run mode has become known. */
nm_status nm_processes_check(nm_processes *processes, nm_error *err);

bool nm_processes_has_ended(const nm_processes *processes, uint64_t number); /* its end has been written */

/* Tells the rings of dead processes that nobody will publish in them any more; after rings have been looked for. */
void nm_processes_mark_rings(nm_processes *processes);

/* How a child of ours ended, as wait4 says; `peak_bytes` of host memory, 0: unknown. */
void nm_processes_reaped(nm_processes *processes, int64_t pid, int wait_status, uint64_t peak_bytes);

/* Writes the end of each process that has died and whose rings have been released. */
nm_status nm_processes_end(nm_processes *processes, nm_error *err);

/* The recording ends: what still runs is said to be running. */
nm_status nm_processes_leave(nm_processes *processes, nm_error *err);

/* Notes that `count` processes (0: not known) are not in the recording, and why; behind what has been written. */
nm_status nm_processes_note_unseen(nm_processes *processes, uint64_t count, const char *why, nm_error *err);

/* A block has been written: forgets the files of those whose end stands in it. */
void nm_processes_written(nm_processes *processes);

/* Is the file of this process there, and whole? */
bool nm_process_has_joined(const nm_folder *folder, uint64_t number);

/* Does the process exist that had this pid since then? What cannot be found out counts as yes. */
bool nm_process_is_alive(int64_t pid, uint64_t start_time);

#endif
