/* SPDX-License-Identifier: Apache-2.0
 *
 * Floors of the measures of view health: below its own a verdict that is not good is 'minor'. The schema has defaults (table
 * threshold); what a team wants otherwise comes from a command line or a file, as MEASURE=VALUE.
 */
#ifndef NM_STORE_THRESHOLD_H
#define NM_STORE_THRESHOLD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef enum nm_measure {
    NM_MEASURE_COST, /* nanoseconds */
    NM_MEASURE_FRAGMENTATION,
    NM_MEASURE_HIT_RATE, /* requests */
    NM_MEASURE_ZERO_COPY,
    NM_MEASURE_COUNT
} nm_measure;

/* Zeroed, all are as the schema has them. */
typedef struct nm_thresholds {
    struct {
        bool is_set;
        int64_t floor;
    } items[NM_MEASURE_COUNT];
} nm_thresholds;

const char *nm_measure_name(nm_measure measure); /* as in view health */

bool nm_thresholds_are_set(const nm_thresholds *thresholds); /* any of them */

/* Puts them into table z_threshold. What is set counts as it is, however large the device. */
nm_status nm_thresholds_apply(sqlite3 *db, const nm_thresholds *thresholds, nm_error *err);

#endif
