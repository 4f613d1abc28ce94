/* SPDX-License-Identifier: Apache-2.0
 *
 * After a pass of the drain the watch is asked for its heaps and devices, and each alert is held to each of them. What has
 * passed its limit is remembered until it is at or below it again, so that a figure which trembles around a limit is said
 * once. Where memory lacks to remember something, that is not warned of; the recording goes on.
 */
#include "tool/record/alerts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/number.h"
#include "base/quantity.h"
#include "base/spoken.h"

#define WARM_UP_NS    INT64_C(60000000000)
#define WARM_UP_STEPS 2
#define LINE_BYTES    256
#define HARDWARE_KEY  (UINT64_C(1) << 63) /* apart from numbers of devices that are no known hardware */

typedef struct heap_start { /* what growth counts from */
    int64_t since_ns;       /* when it was first seen to hold something; 0: not yet */
    uint64_t bytes;
    bool is_known;
} heap_start;

typedef struct process_steps {
    int64_t number; /* the last seen */
    uint64_t count;
} process_steps;

typedef struct device_use { /* a piece of hardware */
    int64_t ordinal;        /* physical where it is known */
    uint64_t capacity_bytes;
    uint64_t recorded_bytes;                    /* in this pass: live driver memory */
    uint64_t said_used_bytes, said_total_bytes; /* in this pass: its own word; total 0: none */
} device_use;

struct record_alerts {
    const record_alert_list *list;
    const nm_watch *watch;
    nm_map passed; /* (alert, subject) -> 1 while the limit is passed */
    nm_map starts; /* heap -> index in heap_starts */
    heap_start *heap_starts;
    size_t start_count, start_capacity;
    nm_map steps; /* process -> index in process_counts */
    process_steps *process_counts;
    size_t step_count, step_capacity;
    nm_map hardware;     /* physical ordinal, or number of a device -> index in devices */
    nm_map device_index; /* number of a device -> the same */
    device_use *devices;
    size_t device_count, device_capacity;
    int64_t now_ns;
    record_alert_say *say;
    void *context;
    nm_error *err;
    nm_status status;
};

/* ---- Reading -------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    record_alert_kind kind;
} kinds[] = {
    {"device_used", RECORD_ALERT_DEVICE_USED},
    {"live_bytes", RECORD_ALERT_LIVE_BYTES},
    {"live_count", RECORD_ALERT_LIVE_COUNT},
    {"growth_bytes", RECORD_ALERT_GROWTH_BYTES},
};

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static bool read_kind(const char **at, record_alert *out)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i].name);

        if (strncmp(*at, kinds[i].name, len) == 0 && !isalnum((unsigned char)(*at)[len]) && (*at)[len] != '_') {
            out->kind = kinds[i].kind;
            *at += len;
            return true;
        }
    }
    return false;
}

static nm_status read_limit(const char *at, record_alert *out, nm_error *err)
{
    char number[LINE_BYTES];
    size_t length = strlen(at);

    for (; length > 0 && isblank((unsigned char)at[length - 1]); length--)
        ;
    if (length >= sizeof number)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a number behind the >");
    memcpy(number, at, length);
    number[length] = 0;
    out->is_ratio = out->kind == RECORD_ALERT_DEVICE_USED && strchr(number, '%') != NULL;
    if (out->is_ratio)
        return nm_quantity_ratio(number, 1, &out->limit_ratio, err);
    if (out->kind != RECORD_ALERT_LIVE_COUNT)
        return nm_quantity_size(number, &out->limit, err);
    return nm_number_read(number, NM_SUM_MAX, &out->limit)
               ? NM_OK
               : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "live_count needs a whole number behind the >");
}

nm_status record_alert_read(const char *text, record_alert_list *list, nm_error *err)
{
    record_alert alert = {.text = text};
    const char *at = skip_blanks(text);
    nm_status status;

    if (!read_kind(&at, &alert))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "must be of device_used, live_bytes, live_count or growth_bytes");
    at = skip_blanks(at);
    if (*at != '>' || at[1] == '=')
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be as in 'device_used > 90%%'");
    status = read_limit(skip_blanks(at + 1), &alert, err);
    if (status == NM_OK)
        status = nm_array_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, err);
    if (status == NM_OK)
        list->items[list->count++] = alert;
    return status;
}

/* ---- Saying --------------------------------------------------------------------------------------------------------- */

__attribute__((format_arg(2))) static const char *in_language(bool is_spoken, const char *english)
{
    return is_spoken ? nm_spoken(english) : english;
}

static void print_bytes(char *out, size_t room, uint64_t bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double shown = (double)bytes;
    size_t unit = 0;

    while (shown >= 1024 && unit + 1 < sizeof names / sizeof *names) {
        shown /= 1024;
        unit++;
    }
    snprintf(out, room, unit == 0 ? "%.0f %s" : "%.1f %s", shown, names[unit]);
}

/* True when the limit is passed now and was not before. */
static bool has_just_passed(record_alerts *alerts, size_t alert_index, uint64_t subject, bool is_past)
{
    nm_key key = {alert_index, subject};
    bool was_past = nm_map_get(&alerts->passed, key) != NULL;

    if (is_past && !was_past)
        return nm_map_put(&alerts->passed, key, 1, NULL) == NM_OK;
    if (!is_past && was_past)
        nm_map_remove(&alerts->passed, key, NULL);
    return false;
}

/* `spoken` are the figures in the reader's language. */
static void tell(record_alerts *alerts, const char *who, const record_alert *alert, const char *figures,
                 const char *spoken)
{
    char line[LINE_BYTES], spoken_line[LINE_BYTES];

    snprintf(line, sizeof line, "alert: %s: %s: %s", who, alert->text, figures);
    snprintf(spoken_line, sizeof spoken_line, nm_spoken("alert: %s: %s: %s"), who, alert->text, spoken);
    if (alerts->status == NM_OK)
        alerts->status = alerts->say(alerts->context, line, spoken_line, alerts->err);
}

/* ---- Heaps ---------------------------------------------------------------------------------------------------------- */

static void describe_heap(const nm_watch_heap *heap, char who[LINE_BYTES / 2])
{
    char device[32] = "";

    if (heap->device_number != NM_UNKNOWN_NUMBER)
        snprintf(device, sizeof device, "NPU %" PRId64 " ", heap->device_number);
    snprintf(who, LINE_BYTES / 2, "pid %" PRId64 " %s%.*s", heap->pid, device,
             heap->name.len < 64 ? (int)heap->name.len : 64, (const char *)heap->name.data);
}

/* Zeroed when it is new; NULL: out of memory, and then nothing is said of it. */
static void *place_of(nm_map *index, uint64_t id, void *items, size_t *count, size_t *capacity, size_t item_bytes)
{
    const uint64_t *known = nm_map_get(index, (nm_key){0, id});

    if (known != NULL)
        return *(char **)items + *known * item_bytes;
    if (nm_array_grow(items, capacity, *count + 1, item_bytes, NULL) != NM_OK ||
        nm_map_put(index, (nm_key){0, id}, *count, NULL) != NM_OK)
        return NULL;
    return memset(*(char **)items + (*count)++ * item_bytes, 0, item_bytes);
}

static uint64_t steps_of(const record_alerts *alerts, uint64_t process_id)
{
    const uint64_t *known = nm_map_get(&alerts->steps, (nm_key){0, process_id});

    return known == NULL ? 0 : alerts->process_counts[*known].count;
}

static uint64_t growth_of(record_alerts *alerts, const nm_heap_gauge *now)
{
    heap_start *start = place_of(&alerts->starts, now->heap_id, &alerts->heap_starts, &alerts->start_count,
                                 &alerts->start_capacity, sizeof *alerts->heap_starts);
    uint64_t steps = steps_of(alerts, now->process_id);

    if (start == NULL)
        return 0;
    if (start->since_ns == 0 && now->allocation_count > 0)
        start->since_ns = alerts->now_ns;
    if (!start->is_known && start->since_ns != 0 &&
        (steps >= WARM_UP_STEPS || (steps == 0 && alerts->now_ns - start->since_ns >= WARM_UP_NS))) {
        start->is_known = true;
        start->bytes = now->live_bytes;
    }
    return start->is_known && now->live_bytes > start->bytes ? now->live_bytes - start->bytes : 0;
}

static void look_at_heap(void *context, const nm_watch_heap *heap)
{
    record_alerts *alerts = context;
    uint64_t growth_bytes = growth_of(alerts, &heap->now);
    char who[LINE_BYTES / 2], figures[LINE_BYTES / 4];

    for (size_t i = 0; i < alerts->list->count; i++) {
        const record_alert *alert = &alerts->list->items[i];
        uint64_t value = alert->kind == RECORD_ALERT_LIVE_COUNT   ? heap->now.live_count
                         : alert->kind == RECORD_ALERT_LIVE_BYTES ? heap->now.live_bytes
                                                                  : growth_bytes;

        if (alert->kind == RECORD_ALERT_DEVICE_USED ||
            !has_just_passed(alerts, i, heap->now.heap_id, value > alert->limit))
            continue;
        if (alert->kind == RECORD_ALERT_LIVE_COUNT)
            snprintf(figures, sizeof figures, "%" PRIu64, value);
        else
            print_bytes(figures, sizeof figures, value);
        describe_heap(heap, who);
        tell(alerts, who, alert, figures, figures);
    }
}

static void count_step(void *context, const nm_watch_step *step)
{
    record_alerts *alerts = context;
    process_steps *known = place_of(&alerts->steps, step->process_id, &alerts->process_counts, &alerts->step_count,
                                    &alerts->step_capacity, sizeof *alerts->process_counts);

    if (known == NULL || (known->count > 0 && known->number == step->number))
        return;
    known->number = step->number;
    known->count++;
}

/* ---- Devices -------------------------------------------------------------------------------------------------------- */

void record_alerts_take(record_alerts *alerts, const nm_record *record)
{
    const nm_definition *definition = &record->definition;
    bool is_device = record->kind == NM_RECORD_DEFINITION && definition->kind == NM_DEFINE_DEVICE;
    bool is_hardware = is_device && definition->device.physical_ordinal != NM_UNKNOWN_NUMBER;
    device_use *use;

    if (!is_device)
        return;
    use = place_of(&alerts->hardware,
                   is_hardware ? HARDWARE_KEY | (uint64_t)definition->device.physical_ordinal : definition->id,
                   &alerts->devices, &alerts->device_count, &alerts->device_capacity, sizeof *alerts->devices);
    if (use == NULL || nm_map_put(&alerts->device_index, (nm_key){0, definition->id}, (uint64_t)(use - alerts->devices),
                                  NULL) != NM_OK)
        return; /* one device less to be warned of */
    use->ordinal = is_hardware ? definition->device.physical_ordinal : definition->device.ordinal;
    if (definition->device.capacity_bytes != 0)
        use->capacity_bytes = definition->device.capacity_bytes;
}

static device_use *device_of(record_alerts *alerts, uint64_t device_id)
{
    const uint64_t *known = nm_map_get(&alerts->device_index, (nm_key){0, device_id});

    return known == NULL ? NULL : &alerts->devices[*known];
}

static void add_heap_to_device(void *context, const nm_watch_heap *heap)
{
    device_use *use = heap->now.level == NM_LEVEL_DRIVER ? device_of(context, heap->now.device_id) : NULL;

    if (use != NULL)
        use->recorded_bytes += heap->now.live_bytes;
}

/* Of several kinds of memory, and of several processes' words, the fullest counts. */
static void add_sample(void *context, const nm_watch_device *sample)
{
    device_use *use = device_of(context, sample->device_id);
    uint64_t used = sample->total_bytes > sample->free_bytes ? sample->total_bytes - sample->free_bytes : 0;

    if (use == NULL || sample->total_bytes == 0)
        return;
    if (use->said_total_bytes != 0 &&
        (double)used / (double)sample->total_bytes <= (double)use->said_used_bytes / (double)use->said_total_bytes)
        return;
    use->said_used_bytes = used;
    use->said_total_bytes = sample->total_bytes;
}

/* "91.2 %, 29.2 GiB of 32.0 GiB (the device's word)"; `total` 0: it is not known. */
static void describe_use(bool is_said, uint64_t used, uint64_t total, bool is_spoken, char figures[LINE_BYTES / 2])
{
    const char *source = is_said ? "the device's word" : "recorded driver memory";
    char used_text[32], total_text[32];

    print_bytes(used_text, sizeof used_text, used);
    print_bytes(total_text, sizeof total_text, total);
    source = is_spoken ? nm_spoken(source) : source;
    if (total != 0)
        snprintf(figures, LINE_BYTES / 2, in_language(is_spoken, "%.1f %%, %s of %s (%s)"),
                 100 * (double)used / (double)total, used_text, total_text, source);
    else
        snprintf(figures, LINE_BYTES / 2, in_language(is_spoken, "%s (%s)"), used_text, source);
}

static void look_at_device(record_alerts *alerts, size_t index)
{
    const device_use *use = &alerts->devices[index];
    bool is_said = use->said_total_bytes != 0 && use->said_used_bytes >= use->recorded_bytes;
    uint64_t used = is_said ? use->said_used_bytes : use->recorded_bytes;
    uint64_t total = use->said_total_bytes != 0 ? use->said_total_bytes : use->capacity_bytes;
    double ratio = total != 0 ? (double)used / (double)total : 0;
    char who[32], figures[LINE_BYTES / 2], spoken[LINE_BYTES / 2];

    snprintf(who, sizeof who, "NPU %" PRId64, use->ordinal);
    describe_use(is_said, used, total, false, figures);
    describe_use(is_said, used, total, true, spoken);
    for (size_t i = 0; i < alerts->list->count; i++) {
        const record_alert *alert = &alerts->list->items[i];
        bool is_past = alert->is_ratio ? total != 0 && ratio > alert->limit_ratio : used > alert->limit;

        if (alert->kind == RECORD_ALERT_DEVICE_USED && has_just_passed(alerts, i, index, is_past))
            tell(alerts, who, alert, figures, spoken);
    }
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

nm_status record_alerts_new(const record_alert_list *list, const nm_watch *watch, record_alerts **out, nm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    (*out)->list = list;
    (*out)->watch = watch;
    return NM_OK;
}

void record_alerts_free(record_alerts *alerts)
{
    if (alerts == NULL)
        return;
    nm_map_free(&alerts->passed);
    nm_map_free(&alerts->starts);
    nm_map_free(&alerts->steps);
    nm_map_free(&alerts->hardware);
    nm_map_free(&alerts->device_index);
    free(alerts->heap_starts);
    free(alerts->process_counts);
    free(alerts->devices);
    free(alerts);
}

nm_status record_alerts_pass(record_alerts *alerts, int64_t now_ns, record_alert_say *say, void *context, nm_error *err)
{
    if (alerts->list->count == 0 || nm_watch_has_failed(alerts->watch))
        return NM_OK;
    alerts->now_ns = now_ns;
    alerts->say = say;
    alerts->context = context;
    alerts->err = err;
    alerts->status = NM_OK;
    nm_watch_steps(alerts->watch, count_step, alerts);
    nm_watch_heaps(alerts->watch, look_at_heap, alerts);
    for (size_t i = 0; i < alerts->device_count; i++) {
        alerts->devices[i].recorded_bytes = 0;
        alerts->devices[i].said_used_bytes = alerts->devices[i].said_total_bytes = 0;
    }
    nm_watch_heaps(alerts->watch, add_heap_to_device, alerts);
    nm_watch_devices(alerts->watch, add_sample, alerts);
    for (size_t i = 0; i < alerts->device_count; i++)
        look_at_device(alerts, i);
    return alerts->status;
}
