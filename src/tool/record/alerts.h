/* SPDX-License-Identifier: Apache-2.0
 *
 * --alert: a line, once, when a figure of a device or of a heap passes a limit, and a mark in the trace, so that the answers
 * describe that moment. Again only after the figure was at or below the limit. Looked at between two passes of the drain,
 * so what is passed for less than some milliseconds may go unseen.
 */
#ifndef NM_TOOL_RECORD_ALERTS_H
#define NM_TOOL_RECORD_ALERTS_H

#include "base/buffer.h"
#include "base/error.h"
#include "watch/watch.h"

typedef enum record_alert_kind {
    /* What is used of a device: by its own word (libdcmi, or the runtime's samples), or what driver memory is recorded to
     * be live on it where that is more or the device says nothing. */
    RECORD_ALERT_DEVICE_USED,
    RECORD_ALERT_LIVE_BYTES, /* of a heap */
    RECORD_ALERT_LIVE_COUNT, /* of a heap */
    /* Of a heap: more live bytes than when the process's second step began, or without steps a minute after it first
     * held anything: what is there by then is taken for the warm-up. */
    RECORD_ALERT_GROWTH_BYTES,
} record_alert_kind;

typedef struct record_alert {
    record_alert_kind kind;
    bool is_ratio; /* of a device's memory */
    double limit_ratio;
    uint64_t limit;   /* bytes or a count, else */
    const char *text; /* borrowed: as it was given */
} record_alert;

typedef struct record_alert_list {
    record_alert *items; /* never freed: as long as the command line */
    size_t count, capacity;
} record_alert_list;

/* 'device_used > 90%', 'live_bytes > 20GiB', 'live_count > 1000', 'growth_bytes > 1GiB'. NM_ERR_USAGE: says what is wrong
 * with it. */
nm_status record_alert_read(const char *text, record_alert_list *list, nm_error *err);

typedef struct record_alerts record_alerts;

nm_status record_alerts_new(const record_alert_list *list, const nm_watch *watch, record_alerts **out, nm_error *err);
void record_alerts_free(record_alerts *alerts); /* NULL is fine */

/* Is told all that goes into the trace: it needs the devices. */
void record_alerts_take(record_alerts *alerts, const nm_record *record);

/* Looks, and gives each line that is to be said to `say`: as it is marked in the trace, and in the reader's language. */
typedef nm_status record_alert_say(void *context, const char *line, const char *spoken, nm_error *err);
nm_status record_alerts_pass(record_alerts *alerts, int64_t now_ns, record_alert_say *say, void *context,
                             nm_error *err);

#endif
