/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of misuse: for passes that find some. They need nm_anomaly_pass, which numbers the rows of all.
 */
#ifndef NM_ANALYSIS_ANOMALY_H
#define NM_ANALYSIS_ANOMALY_H

#include "replay/pass.h"

/* A row of what the event did, without a detail; what is wrong about a copy is its own affair. */
nm_anomaly_row nm_anomaly_row_for(nm_anomaly_kind kind, const nm_context *context);

/* `run`: of nm_anomaly_pass. Numbers the row: whoever gives it, numbers go by the order of events; what waits until no late free
 * can explain it has its number then. */
nm_status nm_anomaly_write(nm_run *run, nm_anomaly_row *row, nm_error *err);

#endif
