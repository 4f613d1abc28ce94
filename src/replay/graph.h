/* SPDX-License-Identifier: Apache-2.0
 *
 * What captured graphs hold.
 */
#ifndef NM_REPLAY_GRAPH_H
#define NM_REPLAY_GRAPH_H

#include "replay/state.h"

nm_status nm_graph_call(nm_replay *replay, const nm_context *context, nm_error *err); /* a call about streams */

/* Memory that is being born: is it in a capture? Notes that graph's number. NM_ERR_MEMORY. */
nm_status nm_graph_claim(nm_replay *replay, nm_live *live, const nm_context *context, nm_error *err);

/* It becomes live, or lives on: if its graph lives, that holds it. Before it comes into any sum. */
nm_status nm_graph_hold(nm_replay *replay, nm_live *live, nm_error *err);
void nm_graph_leave(nm_live *live); /* it is in no sum any more */

/* For usage.c and sub_pool.c: the graph's share of a heap's sums, when it comes or goes. */
void nm_graph_add(nm_live *live);
void nm_graph_subtract(nm_live *live);
void nm_graph_reserve(const nm_live *range, uint64_t more_bytes, uint64_t less_bytes);

void nm_graphs_lose(const nm_process *process); /* events were lost: the end of a capture may be among them */

/* The device's graphs end; NULL: all of the process. */
nm_status nm_graphs_reset(nm_replay *replay, nm_process *process, const nm_device *device, const nm_context *context,
                          nm_error *err);
nm_status nm_graphs_finish(nm_replay *replay, nm_error *err); /* writes those that live */
void nm_graphs_discard(nm_replay *replay);

#endif
