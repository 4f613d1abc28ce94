/* SPDX-License-Identifier: Apache-2.0
 *
 * Table z_site_verdict: does what a site holds grow from step to step? A verdict is firm, or it is not given. What is live of
 * a site at the ends of steps is looked at over their last two fifths, cut into three parts, and the part before these:
 *
 *   - its floor, the least in a part, rises from each part to the next, and not much slower than it did before: what was
 *     built once, and caches that are full or nearly so, do not;
 *   - and either it never falls there (blocks that stay, or one that is replaced by a larger one), or blocks also come and
 *     go, and then their number rises too, some of each part are still there, and the oldest has outlived all that were
 *     freed: a queue, or a server under more load, keeps the newest.
 *
 * Or, whatever its floor does: blocks from all parts of the run are still there that are more than twice as old as any that
 * was freed, about as many from each part.
 *
 * With three to seven steps it rises at the end of each, by about the same and by as many blocks; of training, from five steps on, in a
 * history that begins in the middle, by as many blocks of any size. Steps of what trains nothing may be
 * a server's: there the last may not be left out, and of fewer than five the site that they were found by is no proof of its own. Fewer are no steps.
 */
#ifndef NM_VERDICTS_VERDICT_H
#define NM_VERDICTS_VERDICT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/verdicts/verdicts.h"

#define NM_VERDICT_STEPS_MIN 3

/* Fills site_verdict from site_step, site_lifetime, outstanding_birth, step, heap, process and input. */
nm_status nm_verdict_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err);

/* ---- For tests ---- */

typedef struct nm_level { /* what is live of a site from the end of a step on, up to that of the next one */
    int64_t generation;
    double bytes, count;
} nm_level;

typedef struct nm_births { /* of blocks that are still there and may be called a leak */
    int64_t generation;
    double bytes, count;
} nm_births;

typedef struct nm_site_history { /* numbers of steps are no larger than INT32_MAX */
    const nm_level *levels;
    size_t level_count;
    const nm_births *births;
    size_t birth_count;
    int64_t step_count;      /* of the process */
    int64_t freed_max_steps; /* most that began in the life of a freed block; -1: none was freed */
    bool is_served;      /* the steps were found by a place that recurs, and nothing is trained: a server's, maybe */
    bool is_from_middle; /* the history does not begin with the process: what is built once was built before */
    bool is_anchor;      /* by this site: each step holds a block of it whatever it does with them */
    bool needs_births;   /* its level holds what is no block of the site too: memory under a pool */
} nm_site_history;

typedef enum nm_verdict_reason {
    NM_REASON_GROWS = 0,       /* verdict growing */
    NM_REASON_NO_STEPS = 1,    /* not judged: one pass, or no iterations were found */
    NM_REASON_FEW_STEPS = 2,   /* not judged */
    NM_REASON_STOPPED = 3,     /* bounded */
    NM_REASON_NEWEST_KEPT = 4, /* bounded */
    NM_REASON_NOT_STEADY = 5,  /* not judged */
    NM_REASON_HELD = 6,        /* nothing speaks for growth: no row */
    NM_REASON_CUT = 7,         /* not judged: what is taken in many places looks like one */
    NM_REASON_OUTLIVES = 8,    /* verdict growing */
} nm_verdict_reason;

/* *growth_bytes: a step, over the last two fifths of them; or of what outlives, over all but the last; 0: it does not grow. */
nm_verdict_reason nm_verdict_judge(const nm_site_history *history, double *growth_bytes);

#endif
