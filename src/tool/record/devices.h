/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of the devices themselves, asked from outside the program: through the driver's management library
 * (libdcmi.so), where this host has one. Nothing runs in the program for it.
 */
#ifndef NM_TOOL_RECORD_DEVICES_H
#define NM_TOOL_RECORD_DEVICES_H

#include "drain/drain.h"

typedef struct record_devices record_devices;

nm_status record_devices_new(int64_t interval_ns, record_devices **out, nm_error *err);
void record_devices_free(record_devices *devices); /* NULL is fine */

/* A nm_trace_observer: notes which devices the program uses. */
void record_devices_take(void *devices, const nm_record *record);

/* If it is time to: a MEMORY_SAMPLE for each device in use whose figure has moved by a mebibyte. */
nm_status record_devices_tell(record_devices *devices, nm_drain *drain, nm_error *err);

#endif
