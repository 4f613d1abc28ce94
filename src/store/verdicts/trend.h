/* SPDX-License-Identifier: Apache-2.0
 *
 * Table z_step_trend: does what a heap or a device holds grow from step to step, and when is the device full? A straight line
 * is fitted to the most that was held in each step, without the first quarter of the steps (warm-up). What graphs held last
 * is taken for what they held all the time: a capture is no growth. It is taken for a
 * trend only if
 *
 *   - no event was lost and there are TREND_STEPS_MIN steps;
 *   - the slope is positive and far from its own scatter: t >= 3 + 12 / degrees of freedom, where steps that lie on the
 *     same side of the line as the step before count for less (as many as (1 - r) / (1 + r) of them, r being the
 *     correlation of what is left over by the line with itself one step before); so a warm-up that ends late, or a walk
 *     without aim, is none;
 *   - the second half of the fitted steps still grows at least half as fast.
 */
#ifndef NM_VERDICTS_TREND_H
#define NM_VERDICTS_TREND_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/error.h"
#include "store/verdicts/verdicts.h"

#define NM_TREND_STEPS_MIN 8
#define NM_TREND_BINS_MAX  65536 /* more steps than that are joined, two and two */

/* Fills step_trend from step_sum, heap, device and input; what others have of a device stands in usage and device_sample. */
nm_status nm_trend_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err);

/* ---- For tests ---- */

typedef struct nm_trend_fit {
    size_t first, count; /* which values were fitted */
    double slope;        /* of a value to the next */
    double last_line;    /* the line at the last value */
    double residual;     /* standard deviation of what is left over */
    double t;            /* slope over its own scatter; at most NM_TREND_T_MAX */
    double t_needed;
    double late_slope; /* of the second half */
} nm_trend_fit;

#define NM_TREND_T_MAX 1e6

/* Fits a line to the values behind the first quarter. There are at least NM_TREND_STEPS_MIN. */
nm_trend_fit nm_trend_fit_values(const double *values, size_t count);

#endif
