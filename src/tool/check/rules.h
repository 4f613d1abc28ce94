/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules that a database can be held to: what each is called, what it measures, and the measuring. A rule looks at
 * several places (devices, heaps) and keeps the worst of them; where there is nothing to measure it fails, so that a typing
 * error in a filter is not taken for good news. Where what was recorded does not tell, it is not judged.
 */
#ifndef NM_TOOL_CHECK_RULES_H
#define NM_TOOL_CHECK_RULES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/threshold.h"

#define CHECK_TEXT_BYTES 256

typedef enum check_unit { CHECK_BYTES, CHECK_RATIO, CHECK_COUNT, CHECK_BYTES_PER_HOUR } check_unit;

typedef enum check_kind {
    CHECK_COMPLETE, /* nothing of the recording is missing; always the first rule */
    CHECK_MAX_PEAK,
    CHECK_MAX_RESERVED,
    CHECK_MAX_FRAGMENTATION,
    CHECK_MIN_HIT_RATE,
    CHECK_MAX_MISSES_PER_STEP,
    CHECK_MAX_HOST_GROWTH,
    CHECK_NO_GROWTH,
    CHECK_NO_RISING,
    CHECK_NO_LEAK,
    CHECK_NO_ANOMALY,
    CHECK_NO_OOM,
    CHECK_BASELINE,
    CHECK_KIND_COUNT
} check_kind;

/* What becomes of a rule that is not judged. */
typedef enum check_not_judged { CHECK_NOT_SAID, CHECK_FAILS, CHECK_PASSES } check_not_judged;

typedef struct check_rule {
    check_kind kind;
    double limit;         /* bytes, ratio or count */
    const char *baseline; /* borrowed: path of the other database */
    double more_ratio;    /* of a baseline: how much more is allowed, as a share */
    double more_bytes;    /* or in bytes */
    check_not_judged not_judged;
} check_rule;

typedef struct check_filter { /* which places count */
    const char *heap;         /* borrowed: name or level of a heap; NULL: any */
    bool has_rank;
    int64_t rank;
    bool allows_partial;
    check_not_judged not_judged; /* of rules that say nothing of it */
    nm_thresholds thresholds;    /* a limit counts however little there is, unless a floor is set here */
} check_filter;

typedef struct check_result {
    const char *name; /* of the rule, as its option without the dashes */
    check_unit unit;
    bool is_ok;          /* it holds, or what is not judged passes */
    bool is_unjudged;    /* nobody can say whether it holds; `note` says why */
    bool has_value;      /* something was measured: */
    double value;        /* the worst place's */
    bool has_limit;      /* the rule compares: */
    bool is_limit_known; /* not of what a baseline lacks, or counts otherwise */
    bool is_minimum;     /* the limit is one */
    double limit;        /* the worst place's */
    int64_t place_count, failed_count;
    char place[CHECK_TEXT_BYTES]; /* the worst one, as text; "": none */
    char note[CHECK_TEXT_BYTES];  /* what else there is to say; "": nothing */
} check_result;

/*
 * Measures one rule in the database, whose path *subject is. A baseline is opened beside it. NM_ERR_DATABASE, NM_ERR_VERSION,
 * NM_ERR_FORMAT: a database cannot be read; *subject is then its path.
 */
nm_status check_measure(sqlite3 *db, const check_rule *rule, const check_filter *filter, check_result *out,
                        const char **subject, nm_error *err);

/* How many heaps the filter chooses, and of how many. */
nm_status check_count_heaps(sqlite3 *db, const check_filter *filter, int64_t *chosen_count, int64_t *all_count,
                            nm_error *err);

#endif
