/* SPDX-License-Identifier: Apache-2.0
 *
 * What recording took of the program's time, as an estimate: what one event costs on this machine, measured before the
 * program begins, times the events, against the time that the threads recorded in.
 */
#ifndef NM_TOOL_RECORD_COST_H
#define NM_TOOL_RECORD_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/event.h"

#define RECORD_COST_PROGRAM "--cost-program"

typedef struct record_cost record_cost;

typedef struct record_cost_estimate {
    double cost_ns;
    double
        ratio; /* of the threads' time, each from its first event to its last; 0 to 1, or below 0: that is less than a
                     second in all, which says nothing of a longer run */
} record_cost_estimate;

nm_status record_cost_new(record_cost **out, nm_error *err);
void record_cost_free(record_cost *cost); /* NULL is fine */

/* Measures what an event costs under `library`, in the session in `folder`, which is another one than the program's: some
 * milliseconds. Where it cannot, nothing will be told. */
void record_cost_measure(record_cost *cost, const char *folder, const char *library);

/* Looks on as the drain writes. */
void record_cost_take(record_cost *cost, const nm_record *record);

/* False: nothing was recorded, or it is not known. */
bool record_cost_tell(const record_cost *cost, record_cost_estimate *out);

/* The program that is measured, npumem-record itself under the preload: prints nanoseconds. Its exit status. */
int record_cost_program(void);

#endif
