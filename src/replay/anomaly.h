/* SPDX-License-Identifier: Apache-2.0
 *
 * Misuse.
 */
#ifndef NM_REPLAY_ANOMALY_H
#define NM_REPLAY_ANOMALY_H

#include "replay/state.h"

/* A row of what the event did, without a detail; what is wrong about a copy is its own affair. */
nm_anomaly_row nm_anomaly_row_for(nm_anomaly_kind kind, const nm_context *context);
nm_status nm_anomaly_write(nm_replay *replay, nm_anomaly_row *row, nm_error *err); /* numbers it */

nm_status nm_anomaly_zero_size(nm_replay *replay, const nm_context *context, nm_error *err); /* a request, or none */
nm_status nm_anomaly_free(nm_replay *replay, const nm_context *context, const nm_place *place, nm_error *err);
nm_status nm_anomaly_wrong_free(nm_replay *replay, const nm_context *context, const nm_live *live, nm_error *err);
nm_status nm_anomaly_unmap(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_anomaly_overlap(nm_replay *replay, const nm_replaced *replaced, nm_error *err);

#endif
