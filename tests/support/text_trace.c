/* SPDX-License-Identifier: Apache-2.0
 *
 * A line is cut into words (key=value, or a bare word) and each word is looked up in a table that says where its value
 * goes. Strings, frames and callers are defined as they are first met.
 */
#include "support/text_trace.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/strings.h"

#define WORDS_MAX      64
#define WORD_BYTES_MAX 4096
#define FRAMES_MAX     64

struct nm_text_trace {
    struct {
        nm_record *items;
        size_t count, capacity;
    } records;
    nm_strings strings;
    nm_strings frames; /* texts of frames; number + NM_TEXT_FIRST_OWN_ID - 1 is the frame */
    nm_map stacks;     /* (parent, frame) -> stack */
    size_t at;         /* of next() */
    uint64_t seq;
    uint64_t next_stack;
    uint64_t line; /* from 1 */
};

typedef struct word {
    char key[64];
    char *value; /* owned; NULL: a bare word */
} word;

typedef struct words {
    word items[WORDS_MAX];
    size_t count;
} words;

typedef struct named_number {
    const char *name;
    uint64_t number;
} named_number;

static const named_number event_names[] = {
    {"alloc", NM_EVENT_ALLOC},
    {"free", NM_EVENT_FREE},
    {"free_requested", NM_EVENT_FREE_REQUESTED},
    {"free_failed", NM_EVENT_FREE_FAILED},
    {"alloc_failed", NM_EVENT_ALLOC_FAILED},
    {"map", NM_EVENT_MAP},
    {"unmap", NM_EVENT_UNMAP},
    {"reset", NM_EVENT_RESET},
    {"reserved", NM_EVENT_RESERVED},
    {"export", NM_EVENT_EXPORT},
    {"copy", NM_EVENT_COPY},
    {"mark", NM_EVENT_MARK},
    {"step", NM_EVENT_STEP},
    {"range_begin", NM_EVENT_RANGE_BEGIN},
    {"range_end", NM_EVENT_RANGE_END},
    {"memory_sample", NM_EVENT_MEMORY_SAMPLE},
    {"device_call", NM_EVENT_DEVICE_CALL},
    {"process_end", NM_EVENT_PROCESS_END},
    {"stream_call", NM_EVENT_STREAM_CALL},
    {"module_sample", NM_EVENT_MODULE_SAMPLE},
    {"note", NM_EVENT_NOTE},
    {"objects", NM_EVENT_OBJECTS},
    {"loss", NM_EVENT_LOSS},
    {"pause", NM_EVENT_PAUSE},
    {"state_segment", NM_EVENT_STATE_SEGMENT},
    {"state_block", NM_EVENT_STATE_BLOCK},
    {"keyframe", NM_EVENT_KEYFRAME},
    {"step_total", NM_EVENT_STEP_TOTAL},
    {"site_total", NM_EVENT_SITE_TOTAL},
    {"heap_total", NM_EVENT_HEAP_TOTAL},
    {NULL, 0},
};

static const named_number flag_names[] = {
    {"miss", NM_FLAG_MISS},           {"hit", NM_FLAG_HIT},         {"async", NM_FLAG_ASYNC},
    {"baseline", NM_FLAG_BASELINE},   {"late", NM_FLAG_LATE},       {"idle", NM_FLAG_IDLE},
    {"no_stack", NM_FLAG_NO_STACK},   {"pending", NM_FLAG_PENDING}, {"paused", NM_FLAG_PAUSED},
    {"segment", NM_FLAG_SEGMENT},     {"repeat", NM_FLAG_REPEAT},   {"exported", NM_FLAG_EXPORTED},
    {"running_total", NM_FLAG_TOTAL}, {"driver", NM_FLAG_DRIVER},   {NULL, 0},
};

static const named_number detail_names[] = {
    {"any", NM_FREE_ANY},
    {"device", NM_FREE_DEVICE},
    {"host", NM_FREE_HOST},
    {"physical", NM_FREE_PHYSICAL},
    {"registered", NM_FREE_REGISTERED},
    {"imported", NM_FREE_IMPORTED},
    {"pool", NM_FREE_POOL},
    {"h2h", NM_COPY_HOST_TO_HOST},
    {"h2d", NM_COPY_HOST_TO_DEVICE},
    {"d2h", NM_COPY_DEVICE_TO_HOST},
    {"d2d", NM_COPY_DEVICE_TO_DEVICE},
    {"default", NM_COPY_DEFAULT},
    {"buffer", NM_COPY_HOST_TO_BUFFER_TO_DEVICE},
    {"inner", NM_COPY_INNER_DEVICE},
    {"inter", NM_COPY_INTER_DEVICE},
    {"memset", NM_COPY_MEMSET},
    {"user", NM_RANGE_USER},
    {"operator", NM_RANGE_OPERATOR},
    {"annotation", NM_RANGE_ANNOTATION},
    {"model", NM_RANGE_MODEL},
    {"category", NM_RANGE_CATEGORY},
    {"module", NM_RANGE_MODULE},
    {"model_load", NM_RANGE_MODEL_LOAD},
    {"model_unload", NM_RANGE_MODEL_UNLOAD},
    {"stream_create", NM_STREAM_CREATE},
    {"stream_destroy", NM_STREAM_DESTROY},
    {"synchronize", NM_STREAM_SYNCHRONIZE},
    {"synchronize_device", NM_STREAM_SYNCHRONIZE_DEVICE},
    {"wait_event", NM_STREAM_WAIT_EVENT},
    {"event_create", NM_STREAM_EVENT_CREATE},
    {"event_destroy", NM_STREAM_EVENT_DESTROY},
    {"event_record", NM_STREAM_EVENT_RECORD},
    {"event_synchronize", NM_STREAM_EVENT_SYNCHRONIZE},
    {"event_reset", NM_STREAM_EVENT_RESET},
    {"allocator_register", NM_STREAM_ALLOCATOR_REGISTER},
    {"allocator_unregister", NM_STREAM_ALLOCATOR_UNREGISTER},
    {"capture_begin", NM_STREAM_CAPTURE_BEGIN},
    {"capture_end", NM_STREAM_CAPTURE_END},
    {"graph_execute", NM_STREAM_GRAPH_EXECUTE},
    {"graph_destroy", NM_STREAM_GRAPH_DESTROY},
    {"notify_create", NM_STREAM_NOTIFY_CREATE},
    {"notify_destroy", NM_STREAM_NOTIFY_DESTROY},
    {"stream_context_create", NM_STREAM_CONTEXT_CREATE},
    {"stream_context_destroy", NM_STREAM_CONTEXT_DESTROY},
    {"missing_function", NM_NOTE_MISSING_FUNCTION},
    {"other_tool", NM_NOTE_OTHER_TOOL},
    {"unseen_library", NM_NOTE_UNSEEN_LIBRARY},
    {"unseen_operator", NM_NOTE_UNSEEN_OPERATOR},
    {"no_pool_events", NM_NOTE_NO_POOL_EVENTS},
    {"python_unreadable", NM_NOTE_PYTHON_UNREADABLE},
    {"ddr", NM_MEMORY_DDR},
    {"hbm", NM_MEMORY_HBM},
    {"init", NM_DEVICE_INIT},
    {"finalize", NM_DEVICE_FINALIZE},
    {"set", NM_DEVICE_SET},
    {"reset", NM_DEVICE_RESET},
    {"reset_force", NM_DEVICE_RESET_FORCE},
    {"context_create", NM_DEVICE_CONTEXT_CREATE},
    {"context_destroy", NM_DEVICE_CONTEXT_DESTROY},
    {"context_set", NM_DEVICE_CONTEXT_SET},
    {"running", NM_PROCESS_RUNNING},
    {"exit", NM_PROCESS_EXIT},
    {"signal", NM_PROCESS_SIGNAL},
    {"exec", NM_PROCESS_EXEC},
    {"ring_full", NM_LOSS_RING_FULL},
    {"no_ring", NM_LOSS_NO_RING},
    {"unreadable", NM_LOSS_UNREADABLE},
    {NULL, 0},
};

static const named_number level_names[] = {
    {"driver", NM_LEVEL_DRIVER},
    {"pool", NM_LEVEL_POOL},
    {"workspace", NM_LEVEL_WORKSPACE},
    {"pinned", NM_LEVEL_PINNED},
    {"registered", NM_LEVEL_REGISTERED},
    {"host", NM_LEVEL_HOST},
    {"physical", NM_LEVEL_PHYSICAL},
    {"imported", NM_LEVEL_IMPORTED},
    {NULL, 0},
};

static const named_number basis_names[] = {
    {"requested", NM_BASIS_REQUESTED},
    {"block", NM_BASIS_BLOCK},
    {NULL, 0},
};

/* Where the value of a key goes. `names` gives words instead of numbers; is_string: the value is interned. */
typedef struct key_rule {
    const char *name;
    size_t offset;
    const named_number *names;
    int is_string;
} key_rule;

#define EVENT_KEY(name, field)                                                                                         \
    {                                                                                                                  \
        name, offsetof(nm_event, field), NULL, 0                                                                       \
    }

static const key_rule event_keys[] = {
    EVENT_KEY("thread", thread_id),
    EVENT_KEY("heap", heap_id),
    EVENT_KEY("address", address),
    EVENT_KEY("requested", requested_bytes),
    EVENT_KEY("block", block_bytes),
    EVENT_KEY("stack", stack_id),
    EVENT_KEY("stream", stream),
    EVENT_KEY("policy", policy),
    EVENT_KEY("cost", cost_ns),
    EVENT_KEY("error", error_code),
    {"name", offsetof(nm_event, name_id), NULL, 1},
    EVENT_KEY("number", number),
    EVENT_KEY("process", number),
    {"detail", offsetof(nm_event, detail), detail_names, 0},
    EVENT_KEY("device", device_id),
    EVENT_KEY("source", source_address),
    EVENT_KEY("size", size_bytes),
    EVENT_KEY("limit", limit_bytes),
    EVENT_KEY("free", free_bytes),
    EVENT_KEY("total", total_bytes),
    EVENT_KEY("until", until_ns),
    EVENT_KEY("model", model_id),
    EVENT_KEY("of_process", process_id),
    EVENT_KEY("count", count),
    EVENT_KEY("ended_count", ended_count),
    EVENT_KEY("miss_count", miss_count),
    EVENT_KEY("live", live_bytes),
    EVENT_KEY("live_count", live_count),
    EVENT_KEY("peak", peak_bytes),
    EVENT_KEY("generation", generation),
    EVENT_KEY("first_seq", first_seq),
    EVENT_KEY("last_seq", last_seq),
    EVENT_KEY("pool", pool_id),
    {NULL, 0, NULL, 0},
};

#define DEFINE_KEY(name, field)                                                                                        \
    {                                                                                                                  \
        name, offsetof(nm_definition, field), NULL, 0                                                                  \
    }
#define DEFINE_STRING(name, field)                                                                                     \
    {                                                                                                                  \
        name, offsetof(nm_definition, field), NULL, 1                                                                  \
    }

static const key_rule process_keys[] = {
    DEFINE_KEY("parent", process.parent_id),
    DEFINE_KEY("pid", process.pid),
    DEFINE_STRING("host", process.host),
    DEFINE_STRING("command", process.command),
    DEFINE_KEY("rank", process.rank),
    DEFINE_KEY("local_rank", process.local_rank),
    DEFINE_KEY("world_size", process.world_size),
    DEFINE_KEY("run_mode", process.run_mode),
    DEFINE_KEY("begin", process.begin_ns),
    DEFINE_KEY("late", process.is_late),
    {NULL, 0, NULL, 0},
};

static const key_rule thread_keys[] = {
    DEFINE_KEY("process", thread.process_id),
    DEFINE_KEY("tid", thread.tid),
    DEFINE_STRING("name", thread.name),
    DEFINE_KEY("ring", thread.ring_id),
    {NULL, 0, NULL, 0},
};

static const key_rule device_keys[] = {
    DEFINE_KEY("process", device.process_id),
    DEFINE_KEY("ordinal", device.ordinal),
    DEFINE_KEY("physical", device.physical_ordinal),
    DEFINE_STRING("kind", device.device_kind),
    DEFINE_STRING("name", device.name),
    DEFINE_KEY("capacity", device.capacity_bytes),
    {NULL, 0, NULL, 0},
};

static const key_rule heap_keys[] = {
    DEFINE_KEY("process", heap.process_id),
    DEFINE_KEY("device", heap.device_id),
    {"level", offsetof(nm_definition, heap.level), level_names, 0},
    {"basis", offsetof(nm_definition, heap.size_basis), basis_names, 0},
    DEFINE_STRING("name", heap.name),
    DEFINE_KEY("small", heap.small_bytes),
    DEFINE_KEY("large", heap.large_bytes),
    DEFINE_KEY("module", heap.module_id),
    {NULL, 0, NULL, 0},
};

static const key_rule module_keys[] = {
    DEFINE_KEY("process", module.process_id),
    DEFINE_STRING("path", module.path),
    DEFINE_KEY("base", module.base),
    DEFINE_KEY("bytes", module.bytes),
    {NULL, 0, NULL, 0},
};

static const named_number source_names[] = {
    {"environment", NM_ATTRIBUTE_ENVIRONMENT},
    {"version", NM_ATTRIBUTE_VERSION},
    {"hccl", NM_ATTRIBUTE_HCCL},
    {NULL, 0},
};

static const key_rule attribute_keys[] = {
    DEFINE_KEY("process", attribute.process_id),
    {"source", offsetof(nm_definition, attribute.source), source_names, 0},
    DEFINE_STRING("name", attribute.name),
    DEFINE_STRING("value", attribute.value),
    {NULL, 0, NULL, 0},
};

static const struct {
    const char *name;
    nm_definition_kind kind;
    const key_rule *keys;
} definition_rules[] = {
    {"process", NM_DEFINE_PROCESS, process_keys},
    {"thread", NM_DEFINE_THREAD, thread_keys},
    {"device", NM_DEFINE_DEVICE, device_keys},
    {"heap", NM_DEFINE_HEAP, heap_keys},
    {"module", NM_DEFINE_MODULE, module_keys},
    {"attribute", NM_DEFINE_ATTRIBUTE, attribute_keys},
    {NULL, 0, NULL},
};

static nm_status bad_line(const nm_text_trace *trace, const char *what, const char *text, nm_error *err)
{
    return nm_fail(err, NM_ERR_FORMAT, trace->line, "line %llu: %s: %.60s", (unsigned long long)trace->line, what,
                   text);
}

static nm_status add_record(nm_text_trace *trace, const nm_record *record, nm_error *err)
{
    nm_status status = nm_array_grow(&trace->records.items, &trace->records.capacity, trace->records.count + 1,
                                     sizeof *trace->records.items, err);

    if (status == NM_OK)
        trace->records.items[trace->records.count++] = *record;
    return status;
}

static nm_status add_definition(nm_text_trace *trace, const nm_definition *definition, nm_error *err)
{
    return add_record(trace, &(nm_record){.kind = NM_RECORD_DEFINITION, .definition = *definition}, err);
}

static nm_status intern_string(nm_text_trace *trace, const char *text, size_t len, uint64_t *id, nm_error *err)
{
    size_t known = trace->strings.count;
    uint32_t number = 0;
    nm_status status = nm_strings_intern(&trace->strings, (nm_bytes){(const uint8_t *)text, len}, &number, err);

    if (status == NM_OK && number > known)
        status = add_definition(trace, &(nm_definition){.kind = NM_DEFINE_STRING, .id = number}, err);
    *id = number;
    return status;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Copies a quoted text without its quotes to `out`; *from stands on the first quote and ends behind the last. */
static int unquote(const char **from, char *out, size_t *len)
{
    const char *p = *from + 1;

    for (*len = 0; *p != '"'; p++) {
        unsigned code;

        if (*p == '\0' || *p == '\n' || *len + 1 >= WORD_BYTES_MAX)
            return 0;
        if (*p != '\\') {
            out[(*len)++] = *p;
            continue;
        }
        p++;
        if (*p == 'x' && sscanf(p + 1, "%2x", &code) == 1) {
            out[(*len)++] = (char)code;
            p += 2;
        } else if (*p != '\0') {
            out[(*len)++] = *p == 'n' ? '\n' : *p;
        }
    }
    *from = p + 1;
    return 1;
}

/* Cuts one word off *from. 0 when it is not one. */
static int cut_word(const char **from, word *out)
{
    char text[WORD_BYTES_MAX];
    size_t len = strcspn(*from, "= \t\r\n");

    if (len >= sizeof out->key)
        return 0;
    memcpy(out->key, *from, len);
    out->key[len] = '\0';
    out->value = NULL;
    *from += len;
    if (**from != '=')
        return 1;

    ++*from;
    if (**from == '"') {
        if (!unquote(from, text, &len))
            return 0;
    } else {
        len = strcspn(*from, " \t\r\n");
        if (len >= sizeof text)
            return 0;
        memcpy(text, *from, len);
        *from += len;
    }
    out->value = strndup(text, len);
    return out->value != NULL;
}

static int cut_words(const char *line, words *out)
{
    out->count = 0;
    for (line += strspn(line, " \t\r"); *line != '\0' && *line != '#'; line += strspn(line, " \t\r")) {
        if (out->count == WORDS_MAX || !cut_word(&line, &out->items[out->count]))
            return 0;
        out->count++;
    }
    return 1;
}

static void free_words(words *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].value);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static const named_number *find_name(const named_number *names, const char *name)
{
    for (; names->name != NULL; names++)
        if (strcmp(names->name, name) == 0)
            return names;
    return NULL;
}

static int parse_number(const char *text, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && text[0] != '-')
        return 0;
    *out = text[0] == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return end != text && *end == '\0';
}

/* Puts the value of a word where the rule of its key says, inside the event or definition at `target`. */
static nm_status put_value(nm_text_trace *trace, const key_rule *rules, const word *from, void *target, nm_error *err)
{
    uint64_t value = 0;

    while (rules->name != NULL && strcmp(rules->name, from->key) != 0)
        rules++;
    if (rules->name == NULL)
        return bad_line(trace, "unknown key", from->key, err);

    if (rules->is_string) {
        nm_status status = intern_string(trace, from->value, strlen(from->value), &value, err);
        if (status != NM_OK)
            return status;
    } else if (!parse_number(from->value, &value)) {
        const named_number *named = rules->names == NULL ? NULL : find_name(rules->names, from->value);
        if (named == NULL)
            return bad_line(trace, "not a number", from->value, err);
        value = named->number;
    }
    memcpy((char *)target + rules->offset, &value, sizeof value);
    return NM_OK;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static nm_status parse_event(nm_text_trace *trace, const words *list, nm_error *err)
{
    nm_record record = {.kind = NM_RECORD_EVENT, .event.time_ns = NM_NO_TIME};
    nm_event *event = &record.event;
    const named_number *named = list->count < 2 ? NULL : find_name(event_names, list->items[1].key);
    const char *time = list->items[0].key;

    if (named == NULL)
        return bad_line(trace, "unknown event", list->count < 2 ? "" : list->items[1].key, err);
    event->kind = named->number;
    if (strcmp(time, "@-") != 0 && strcmp(time, "-") != 0 && !parse_number(time + 1, (uint64_t *)&event->time_ns))
        return bad_line(trace, "not a time", time, err);

    for (size_t i = 2; i < list->count; i++) {
        const word *item = &list->items[i];
        nm_status status;

        if (item->value == NULL) {
            const named_number *flag = find_name(flag_names, item->key);
            if (flag == NULL)
                return bad_line(trace, "unknown flag", item->key, err);
            event->flags |= flag->number;
            continue;
        }
        if (strcmp(item->key, "stream") == 0)
            event->flags |= NM_FLAG_STREAM;
        status = put_value(trace, event_keys, item, event, err);
        if (status != NM_OK)
            return status;
    }
    if (!(event->flags & NM_FLAG_BASELINE) && event->kind != NM_EVENT_STATE_SEGMENT &&
        event->kind != NM_EVENT_STATE_BLOCK)
        event->seq = trace->seq++;
    return add_record(trace, &record, err);
}

/* What the text does not say is unknown, not 0. */
static nm_definition blank_definition(nm_definition_kind kind)
{
    nm_definition definition = {.kind = kind};

    if (kind == NM_DEFINE_PROCESS) {
        definition.process.rank = NM_UNKNOWN_NUMBER;
        definition.process.local_rank = NM_UNKNOWN_NUMBER;
        definition.process.world_size = NM_UNKNOWN_NUMBER;
        definition.process.run_mode = NM_UNKNOWN_NUMBER;
        definition.process.begin_ns = NM_NO_TIME;
    } else if (kind == NM_DEFINE_DEVICE) {
        definition.device.physical_ordinal = NM_UNKNOWN_NUMBER;
    } else if (kind == NM_DEFINE_HEAP) {
        definition.heap.size_basis = NM_BASIS_REQUESTED;
    }
    return definition;
}

static nm_status parse_definition(nm_text_trace *trace, const words *list, nm_error *err)
{
    size_t rule = 0;
    nm_definition definition;

    while (definition_rules[rule].name != NULL && strcmp(definition_rules[rule].name, list->items[0].key) != 0)
        rule++;
    if (definition_rules[rule].name == NULL)
        return bad_line(trace, "unknown record", list->items[0].key, err);
    definition = blank_definition(definition_rules[rule].kind);
    if (list->count < 2 || !parse_number(list->items[1].key, &definition.id) || definition.id == 0)
        return bad_line(trace, "a definition needs a number", list->items[0].key, err);

    for (size_t i = 2; i < list->count; i++) {
        if (list->items[i].value == NULL)
            return bad_line(trace, "no value", list->items[i].key, err);
        nm_status status = put_value(trace, definition_rules[rule].keys, &list->items[i], &definition, err);
        if (status != NM_OK)
            return status;
    }
    return add_definition(trace, &definition, err);
}

/* The same of a part of a frame, in which \\xHH is a byte. */
static nm_status intern_part(nm_text_trace *trace, const char *text, size_t len, uint64_t *id, nm_error *err)
{
    char part[WORD_BYTES_MAX];
    size_t count = 0;
    unsigned code;

    if (len > sizeof part)
        return bad_line(trace, "a frame is too long", text, err);
    for (size_t at = 0; at < len; at++) {
        bool is_code = text[at] == '\\' && len - at >= 4 && sscanf(text + at, "\\x%2x", &code) == 1;

        part[count++] = is_code ? (char)code : text[at];
        at += is_code ? 3 : 0;
    }
    return intern_string(trace, part, count, id, err);
}

/* Defines the strings and the frame that `text` (file:line:function, module+offset, or a function) describes. */
static nm_status define_frame(nm_text_trace *trace, const char *text, size_t len, uint64_t id, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_FRAME, .id = id};
    const char *plus = memchr(text, '+', len);
    const char *colon = memchr(text, ':', len);
    const char *second = colon == NULL ? NULL : memchr(colon + 1, ':', len - (size_t)(colon + 1 - text));
    nm_status status;

    if (second != NULL) {
        definition.frame.line = strtoull(colon + 1, NULL, 10);
        status = intern_part(trace, text, (size_t)(colon - text), &definition.frame.file, err);
        if (status == NM_OK && second + 1 < text + len)
            status = intern_part(trace, second + 1, len - (size_t)(second + 1 - text), &definition.frame.function, err);
    } else if (plus != NULL && strncmp(plus, "+0x", 3) == 0) {
        definition.frame.offset = strtoull(plus + 1, NULL, 0);
        status = intern_part(trace, text, (size_t)(plus - text), &definition.frame.module, err);
    } else {
        status = intern_part(trace, text, len, &definition.frame.function, err);
    }
    return status == NM_OK ? add_definition(trace, &definition, err) : status;
}

static nm_status intern_frame(nm_text_trace *trace, const char *text, size_t len, uint64_t *id, nm_error *err)
{
    size_t known = trace->frames.count;
    uint32_t number = 0;
    nm_status status = nm_strings_intern(&trace->frames, (nm_bytes){(const uint8_t *)text, len}, &number, err);

    *id = number + NM_TEXT_FIRST_OWN_ID - 1;
    if (status == NM_OK && number > known)
        status = define_frame(trace, text, len, *id, err);
    return status;
}

static nm_status define_stack(nm_text_trace *trace, uint64_t id, uint64_t parent, uint64_t frame, uint64_t end,
                              nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_STACK, .id = id, .stack = {parent, frame, parent == 0 ? end : 0}};

    return add_definition(trace, &definition, err);
}

/* The stack of a caller: its own number, given when it is first met. */
static nm_status intern_stack(nm_text_trace *trace, uint64_t parent, uint64_t frame, uint64_t end, uint64_t *id,
                              nm_error *err)
{
    nm_key key = {parent == 0 ? end << 62 : parent, frame};
    const uint64_t *known = nm_map_get(&trace->stacks, key);
    nm_status status;

    if (known != NULL) {
        *id = *known;
        return NM_OK;
    }
    *id = trace->next_stack++;
    status = nm_map_put(&trace->stacks, key, *id, err);
    return status == NM_OK ? define_stack(trace, *id, parent, frame, end, err) : status;
}

/* Cuts "a < b < c" into its frames, innermost first. 0 when there are too many or none. */
static size_t cut_frames(const char *text, const char *starts[], size_t lens[])
{
    size_t count = 0;

    while (text != NULL && count < FRAMES_MAX) {
        const char *mark = strstr(text, " < ");
        size_t len = mark == NULL ? strcspn(text, "#") : (size_t)(mark - text);

        while (len > 0 && isspace((unsigned char)*text))
            text++, len--;
        while (len > 0 && isspace((unsigned char)text[len - 1]))
            len--;
        starts[count] = text;
        lens[count++] = len;
        text = mark == NULL ? NULL : mark + 3;
    }
    return text == NULL ? count : 0;
}

/* "a < b < (cut)", "a < b < (whole)": what the recorder says of b. */
static uint64_t take_end(const char *starts[], const size_t lens[], size_t *count)
{
    static const char *const names[] = {"", "(whole)", "(cut)"};

    for (uint64_t end = NM_STACK_END_WHOLE; end <= NM_STACK_END_CUT && *count > 1; end++) {
        if (lens[*count - 1] == strlen(names[end]) && memcmp(starts[*count - 1], names[end], lens[*count - 1]) == 0) {
            (*count)--;
            return end;
        }
    }
    return NM_STACK_END_UNKNOWN;
}

static nm_status parse_stack(nm_text_trace *trace, const char *line, nm_error *err)
{
    const char *starts[FRAMES_MAX];
    size_t lens[FRAMES_MAX];
    char *colon;
    uint64_t id = strtoull(line + strlen("stack"), &colon, 10);
    uint64_t parent = 0;
    uint64_t frame = 0, end;
    nm_status status = NM_OK;
    size_t count;

    if (id == 0 || id >= NM_TEXT_FIRST_OWN_ID || *colon != ':')
        return bad_line(trace, "not `stack NUMBER: frames`", line, err);
    count = cut_frames(colon + 1, starts, lens);
    if (count == 0)
        return bad_line(trace, "too many frames", line, err);
    end = take_end(starts, lens, &count);
    for (size_t i = count; i-- > 0 && status == NM_OK;) {
        status = intern_frame(trace, starts[i], lens[i], &frame, err);
        if (status == NM_OK && i > 0)
            status = intern_stack(trace, parent, frame, end, &parent, err);
    }
    return status == NM_OK ? define_stack(trace, id, parent, frame, end, err) : status;
}

static nm_status parse_line(nm_text_trace *trace, const char *line, nm_error *err)
{
    words list;
    nm_status status = NM_OK;

    line += strspn(line, " \t\r");
    if (strncmp(line, "stack ", 6) == 0)
        return parse_stack(trace, line, err);
    if (!cut_words(line, &list))
        status = bad_line(trace, "cannot be cut into words", line, err);
    else if (list.count > 0 && (list.items[0].key[0] == '@' || strcmp(list.items[0].key, "-") == 0))
        status = parse_event(trace, &list, err);
    else if (list.count > 0)
        status = parse_definition(trace, &list, err);
    free_words(&list);
    return status;
}

nm_status nm_text_trace_open(const char *text, nm_text_trace **out, nm_error *err)
{
    nm_text_trace *trace = calloc(1, sizeof *trace);
    nm_status status = NM_OK;

    if (trace == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    trace->next_stack = NM_TEXT_FIRST_OWN_ID;
    while (*text != '\0' && status == NM_OK) {
        size_t len = strcspn(text, "\n");
        char *line = strndup(text, len);

        trace->line++;
        status =
            line == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : parse_line(trace, line, err);
        free(line);
        text += len + (text[len] == '\n');
    }
    if (status != NM_OK) {
        nm_text_trace_close(trace);
        return status;
    }
    *out = trace;
    return NM_OK;
}

nm_status nm_text_trace_next(nm_text_trace *trace, nm_record *out, nm_error *err)
{
    (void)err;
    if (trace->at == trace->records.count)
        return NM_END;
    *out = trace->records.items[trace->at++];
    if (out->kind == NM_RECORD_DEFINITION && out->definition.kind == NM_DEFINE_STRING)
        out->definition.string = nm_strings_get(&trace->strings, (uint32_t)out->definition.id);
    return NM_OK;
}

uint64_t nm_text_trace_string(const nm_text_trace *trace, const char *string)
{
    for (uint32_t number = 1; number <= trace->strings.count; number++) {
        nm_bytes known = nm_strings_get(&trace->strings, number);
        if (known.len == strlen(string) && memcmp(known.data, string, known.len) == 0)
            return number;
    }
    return 0;
}

void nm_text_trace_close(nm_text_trace *trace)
{
    if (trace == NULL)
        return;
    free(trace->records.items);
    nm_strings_free(&trace->strings);
    nm_strings_free(&trace->frames);
    nm_map_free(&trace->stacks);
    free(trace);
}
