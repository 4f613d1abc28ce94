/* SPDX-License-Identifier: Apache-2.0
 *
 * One run: a workload, an allocator with its settings, a device. What came of it, and where it failed.
 */
#ifndef NM_WHATIF_SIMULATE_H
#define NM_WHATIF_SIMULATE_H

#include "whatif/settings.h"
#include "whatif/workload.h"

typedef struct nm_setting {
    bool is_bucket;
    nm_caching_settings caching;
    nm_bucket_settings bucket;
} nm_setting;

typedef struct nm_sim_options {
    uint64_t capacity_bytes; /* of the device; NM_WHATIF_UNLIMITED */
    uint64_t other_bytes;    /* taken by others all the time */
} nm_sim_options;

typedef enum nm_failure_cause {
    NM_CAUSE_NONE = 0,
    NM_CAUSE_CAPACITY,      /* all that is free in the pool would not have been enough either */
    NM_CAUSE_FRAGMENTATION, /* it would have been: in one piece, and not of another stream */
    NM_CAUSE_LIMIT,         /* the pool's own limit */
    NM_CAUSE_BASELINE,      /* what was there at the beginning does not fit */
    NM_CAUSE_OTHER,         /* driver memory outside the pool does not fit */
} nm_failure_cause;

typedef struct nm_sim_failure { /* the state just after the allocator gave up */
    nm_failure_cause cause;
    int64_t seq;
    uint64_t bytes;
    uint64_t reserved_bytes, active_bytes, free_bytes, stuck_bytes, largest_free_bytes, other_bytes;
    uint64_t device_free_bytes;
} nm_sim_failure;

typedef struct nm_sim_result {
    bool is_fit; /* the whole workload was served; else it ended at `failure` */
    nm_sim_failure failure;
    uint64_t request_count, miss_count, requested_bytes, missed_bytes;
    int64_t last_miss_seq; /* NM_NO_SEQ: none */
    uint64_t peak_reserved_bytes, peak_live_bytes, peak_active_bytes, peak_stuck_bytes;
    uint64_t peak_total_bytes;       /* of the pool's memory and the others' together */
    uint64_t reserved_bytes;         /* at the end */
    uint64_t growth_count;           /* times the pool took memory from the driver: a row of pages is one */
    uint64_t take_count, give_count; /* calls of the driver; each mapped or unmapped page is one */
    uint64_t step_count, calls_in_steps, misses_in_steps; /* in steps after the warm-up */
    uint64_t flush_count, collect_count;
    bool is_laid_out; /* what was there at the beginning lay as it was recorded */
} nm_sim_result;

#define NM_SIM_MEMO_RUNS 32

/*
 * What the latest runs of a setting came to. A run on a device of another size that would have granted and refused the same
 * comes to the same, and is not run again. For nm_workload.memo; a zeroed one is empty.
 */
typedef struct nm_sim_memo {
    nm_setting setting;
    uint64_t other_bytes;
    struct {
        uint64_t granted_bytes, refused_bytes; /* as of a device */
        nm_sim_result result;
    } runs[NM_SIM_MEMO_RUNS];
    size_t count; /* in all: the latest ones are there */
} nm_sim_memo;

/* NM_OK also where it does not fit. */
nm_status nm_simulate(const nm_workload *workload, const nm_setting *setting, const nm_sim_options *options,
                      nm_sim_result *result, nm_error *err);

double nm_sim_fragmentation_ratio(const nm_sim_result *result); /* 1 - peak live / peak reserved */
double nm_sim_hit_rate(const nm_sim_result *result);

#endif
