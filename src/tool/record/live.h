/* SPDX-License-Identifier: Apache-2.0
 *
 * What the trace knows to be live of a process whose recording is paused, and what is (the watch knows): when the recording
 * goes on, the difference is written. Made where there is a watch, and the trace is one file.
 */
#ifndef NM_TOOL_RECORD_LIVE_H
#define NM_TOOL_RECORD_LIVE_H

#include "drain/pause.h"
#include "watch/watch.h"

typedef struct record_live record_live;

nm_status record_live_new(nm_watch *watch, record_live **out, nm_error *err); /* the watch is borrowed */
void record_live_free(record_live *live);                                     /* NULL is fine */

const nm_pauser *record_live_pauser(const record_live *live);

/* True while the difference is put: what the observer then hears, the watch knows already. */
bool record_live_is_putting(const record_live *live);

#endif
