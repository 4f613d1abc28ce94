/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of a job, or many processes without ranks, as the screen shows them: one row a process, read once from view
 * z_rank_summary, with which of them failed first and which is the fullest.
 */
#ifndef NM_REPORT_RANK_LIST_H
#define NM_REPORT_RANK_LIST_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NM_RANK_HOST_BYTES 64 /* what is longer is cut */

/* DONE: with status 0; SNAPSHOT, OTHER (a file of another tool): it tells of no end */
typedef enum nm_rank_end { NM_RANK_DONE, NM_RANK_FAILED, NM_RANK_UNSEEN, NM_RANK_SNAPSHOT, NM_RANK_OTHER } nm_rank_end;

typedef enum nm_rank_failure {
    NM_FAILURE_NONE,
    NM_FAILURE_MEMORY,
    NM_FAILURE_RESOURCES,
    NM_FAILURE_SIGNAL,
    NM_FAILURE_STATUS,
    NM_FAILURE_COUNT
} nm_rank_failure;

typedef enum nm_rank_order { NM_ORDER_UNKNOWN, NM_ORDER_FIRST, NM_ORDER_SAME_TIME, NM_ORDER_FOLLOWED } nm_rank_order;

typedef struct nm_rank {
    char host[NM_RANK_HOST_BYTES];                  /* "": not known */
    int64_t rank;                                   /* below 0: none */
    int64_t pid;                                    /* below 0: not known */
    int64_t device_count, device;                   /* device: of the only one */
    int64_t peak_bytes, reserved_bytes, leak_bytes; /* below 0: not known */
    nm_rank_end end;
    nm_rank_failure failure;
    nm_rank_order order;
    int64_t job;
    int64_t end_status;                          /* or the signal; below 0: not known */
    int64_t step;                                /* of the failure; below 0: not known */
    int64_t out_of_memory_id;                    /* 0: none */
    int64_t failed_ns, since_first_ns, doubt_ns; /* below 0: not known */
    int64_t failed_realtime_ns;                  /* since 1970; below 0: not known */
    int64_t database;                            /* of nm_rank_list_add */
    int64_t input_id;                            /* in its database */
    char failed_at[32];                          /* on the wall clock, in UTC; "": not known */
} nm_rank;

typedef struct nm_rank_list {
    nm_rank *ranks; /* owned; by rank, then in the order of the database */
    size_t count, capacity;
    int64_t host_count, input_count;
    int64_t capacity_bytes; /* of each device, where all are alike and no process has several; 0: not */
    int64_t world_size;     /* 0: not known, or the ranks do not fit it */
    int64_t rank_count;     /* different ranks */
    const nm_rank *first;   /* that failed, as far as is known; NULL: none did, or no time is known */
    const nm_rank *worst;   /* with the highest peak; NULL: none has one */
    const nm_rank *median;  /* of the peaks the lower middle one; NULL: as worst */
    /* Of the job of `first`, or of all. */
    int64_t failed_count, same_count, followed_count, unknown_count;
    int64_t unseen_count, snapshot_count; /* of all: whose end was not seen, and which have none to see */
    int64_t other_count;                  /* of snapshot_count: files of other tools */
    int64_t followed_ns,
        doubt_ns; /* the last that followed; the most that clocks may differ by of those that are compared */
} nm_rank_list;

/* Reads them all. *out is to be freed, on failure too. */
nm_status nm_rank_list_read(sqlite3 *db, nm_rank_list **out, nm_error *err);

/* Of several databases, one after the other: adds the ranks of one. The list is zeroed before. */
nm_status nm_rank_list_add(nm_rank_list *list, sqlite3 *db, int64_t database, nm_error *err);

/* After the last one: first, worst and median of all, and nothing else. */
nm_status nm_rank_list_choose(nm_rank_list *list, nm_error *err);

void nm_rank_list_free(nm_rank_list *list); /* NULL is fine */

#endif
