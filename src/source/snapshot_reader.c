/* SPDX-License-Identifier: Apache-2.0
 *
 * Three tables say what a snapshot looks like: which words mean something, which container stands where, and which
 * field of which dictionary goes where in this reader. The code below applies them. Each kind of container is under way
 * at most once at a time, so each has one draft to be filled in.
 */
#include "source/snapshot_reader.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "source/pickle.h"

#define TIME_US_MAX                                                                                                    \
    INT64_C(4000000000000000) /* in microseconds: the year 128000; a thousand times it fits an int64_t */

/* ---- Words: string n of every snapshot's table is word n --------------------------------------------------------- */

enum word {
    WORD_NONE = 0,
    WORD_SEGMENTS,
    WORD_DEVICE_TRACES,
    WORD_SETTINGS,
    WORD_ANNOTATIONS,
    WORD_HOST_SEGMENTS,
    WORD_HOST_TRACES,
    WORD_DEVICE,
    WORD_ADDRESS,
    WORD_TOTAL_SIZE,
    WORD_STREAM,
    WORD_SEGMENT_POOL_ID,
    WORD_IS_EXPANDABLE,
    WORD_BLOCKS,
    WORD_FRAMES,
    WORD_SIZE,
    WORD_REQUESTED_SIZE,
    WORD_STATE,
    WORD_HISTORY,
    WORD_REAL_SIZE,
    WORD_NAME,
    WORD_FILENAME,
    WORD_LINE,
    WORD_ACTION,
    WORD_ADDR,
    WORD_DEVICE_FREE,
    WORD_TIME_US,
    WORD_POOL_ID,
    WORD_STAGE,
    WORD_CATEGORY,
    WORD_KEYS_END, /* those above are keys; those below are values */
    WORD_ACTIVE_ALLOCATED = WORD_KEYS_END,
    WORD_ACTIVE_PENDING_FREE,
    WORD_ACTIVE_AWAITING_FREE,
    WORD_INACTIVE,
    WORD_START,
    WORD_END,
    WORD_ACTION_FIRST, /* in the order of nm_snapshot_action */
    WORD_ACTION_LAST = WORD_ACTION_FIRST + NM_SNAPSHOT_WORKSPACE - NM_SNAPSHOT_ALLOC,
    WORD_COUNT
};

static const char *const words[WORD_COUNT] = {
    [WORD_SEGMENTS] = "segments",
    [WORD_DEVICE_TRACES] = "device_traces",
    [WORD_SETTINGS] = "allocator_settings",
    [WORD_ANNOTATIONS] = "external_annotations",
    [WORD_HOST_SEGMENTS] = "host_segments",
    [WORD_HOST_TRACES] = "host_traces",
    [WORD_DEVICE] = "device",
    [WORD_ADDRESS] = "address",
    [WORD_TOTAL_SIZE] = "total_size",
    [WORD_STREAM] = "stream",
    [WORD_SEGMENT_POOL_ID] = "segment_pool_id",
    [WORD_IS_EXPANDABLE] = "is_expandable",
    [WORD_BLOCKS] = "blocks",
    [WORD_FRAMES] = "frames",
    [WORD_SIZE] = "size",
    [WORD_REQUESTED_SIZE] = "requested_size",
    [WORD_STATE] = "state",
    [WORD_HISTORY] = "history",
    [WORD_REAL_SIZE] = "real_size",
    [WORD_NAME] = "name",
    [WORD_FILENAME] = "filename",
    [WORD_LINE] = "line",
    [WORD_ACTION] = "action",
    [WORD_ADDR] = "addr",
    [WORD_DEVICE_FREE] = "device_free",
    [WORD_TIME_US] = "time_us",
    [WORD_POOL_ID] = "pool_id",
    [WORD_STAGE] = "stage",
    [WORD_CATEGORY] = "category",
    [WORD_ACTIVE_ALLOCATED] = "active_allocated",
    [WORD_ACTIVE_PENDING_FREE] = "active_pending_free",
    [WORD_ACTIVE_AWAITING_FREE] = "active_awaiting_free",
    [WORD_INACTIVE] = "inactive",
    [WORD_START] = "START",
    [WORD_END] = "END",
    [WORD_ACTION_FIRST] = "alloc",
    "free_requested",
    "free_completed",
    "free",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "snapshot",
    "oom",
    "annotate",
    "workspace_snapshot",
};

/* ---- Containers: which one stands where -------------------------------------------------------------------------- */

enum role {
    ROLE_DOCUMENT = NM_PICKLE_ROLE_FIRST,
    ROLE_SEGMENTS,
    ROLE_SEGMENT,
    ROLE_BLOCKS,
    ROLE_BLOCK,
    ROLE_HISTORY, /* of a block, in files of 2022 */
    ROLE_PAST,
    ROLE_TRACES,
    ROLE_TRACE,
    ROLE_ENTRY,
    ROLE_ANNOTATIONS,
    ROLE_ANNOTATION,
    ROLE_SETTINGS,
    ROLE_FRAMES,
    ROLE_FRAME,
    ROLE_COUNT
};

static const struct {
    uint8_t parent, key, is_dict, role;
} structure[] = {
    {NM_PICKLE_OUTSIDE, 0, true, ROLE_DOCUMENT},
    {NM_PICKLE_OUTSIDE, 0, false, ROLE_SEGMENTS}, /* the first versions wrote nothing else */
    {ROLE_TRACE, 0, true, ROLE_ENTRY},
    {ROLE_ENTRY, WORD_FRAMES, false, ROLE_FRAMES},
    {ROLE_FRAMES, 0, true, ROLE_FRAME},
    {ROLE_DOCUMENT, WORD_SEGMENTS, false, ROLE_SEGMENTS},
    {ROLE_DOCUMENT, WORD_DEVICE_TRACES, false, ROLE_TRACES},
    {ROLE_DOCUMENT, WORD_SETTINGS, true, ROLE_SETTINGS},
    {ROLE_DOCUMENT, WORD_ANNOTATIONS, false, ROLE_ANNOTATIONS},
    {ROLE_DOCUMENT, WORD_HOST_SEGMENTS, false, ROLE_SEGMENTS},
    {ROLE_DOCUMENT, WORD_HOST_TRACES, false, ROLE_TRACES},
    {ROLE_TRACES, 0, true, ROLE_ENTRY}, /* of the host, which has one trace */
    {ROLE_SEGMENTS, 0, true, ROLE_SEGMENT},
    {ROLE_SEGMENT, WORD_BLOCKS, false, ROLE_BLOCKS},
    {ROLE_SEGMENT, WORD_FRAMES, false, ROLE_FRAMES},
    {ROLE_BLOCKS, 0, true, ROLE_BLOCK},
    {ROLE_BLOCK, WORD_FRAMES, false, ROLE_FRAMES},
    {ROLE_BLOCK, WORD_HISTORY, false, ROLE_HISTORY},
    {ROLE_HISTORY, 0, true, ROLE_PAST},
    {ROLE_PAST, WORD_FRAMES, false, ROLE_FRAMES},
    {ROLE_TRACES, 0, false, ROLE_TRACE},
    {ROLE_ANNOTATIONS, 0, true, ROLE_ANNOTATION},
};

/* nm_pickle_cell.kind. An empty list, whatever it was written as, is stack 0: a pickle may name it again as any other. */
enum value_kind { KIND_FRAME = 0, KIND_STACK = 1 };

/* ---- The reader, and which field goes where in it ---------------------------------------------------------------- */

/* Dictionaries as the file has them; a field that is missing keeps 0, and its bit in `seen` stays clear. */
typedef struct draft_entry {
    uint64_t address, size_bytes, device_free_bytes, stream, pool;
    int64_t time_us;
    uint32_t action, stack, category;
} draft_entry;

typedef struct draft_segment {
    uint64_t address, total_bytes, stream, pool;
    int64_t device;
    uint32_t stack;
    bool is_expandable;
    size_t first_block;
} draft_segment;

typedef struct draft_block {
    uint64_t address, size_bytes, requested_bytes, past_bytes;
    uint32_t state, stack, past_stack;
} draft_block;

typedef struct draft_annotation {
    int64_t device, time_us;
    uint32_t stage, name;
} draft_annotation;

typedef struct draft_frame {
    int64_t line;
    uint32_t function, file;
} draft_frame;

struct nm_snapshot_reader {
    nm_pickle *pickle;
    nm_snapshot_tables *tables;   /* borrowed */
    nm_snapshot_state_list *list; /* borrowed, or NULL */
    uint32_t under_way;           /* a bit for each role */
    uint32_t filled;              /* a bit for each role of lists: something has ended in the one under way */
    uint64_t seen[ROLE_COUNT];    /* a bit for each key of the dictionary under way */

    draft_entry entry;
    draft_segment segment;
    draft_block block;
    draft_block past; /* past_bytes and past_stack of one item of a block's history */
    draft_annotation annotation;
    draft_frame frame;
    struct {
        uint32_t *items;
        size_t count, capacity;
    } frames; /* of the stack under way, innermost first */

    uint64_t device; /* index of the trace under way */
    bool is_host;    /* the part of the document under way is of host memory */
    nm_snapshot_entry ready;
    bool is_ready, is_at_end, is_snapshot;
    nm_snapshot_action workspace_next; /* what the next entry of a workspace's three is, or OTHER */
    uint64_t workspace_address;
};

enum value_type {
    TYPE_UNKNOWN = 0,
    TYPE_ADDRESS,
    TYPE_SIZE,
    TYPE_NUMBER,
    TYPE_TEXT,
    TYPE_TRUTH,
    TYPE_STACK,
    TYPE_POOL,
    TYPE_PART
};

typedef struct field {
    uint8_t type;
    uint16_t offset; /* in the reader */
} field;

#define AT(member) offsetof(nm_snapshot_reader, member)

static const field fields[ROLE_COUNT][WORD_KEYS_END] = {
    [ROLE_DOCUMENT] = {[WORD_SEGMENTS] = {TYPE_PART, 0},
                       [WORD_DEVICE_TRACES] = {TYPE_PART, 0},
                       [WORD_ANNOTATIONS] = {TYPE_PART, 0},
                       [WORD_HOST_SEGMENTS] = {TYPE_PART, 0},
                       [WORD_HOST_TRACES] = {TYPE_PART, 0}},
    [ROLE_SEGMENT] = {[WORD_DEVICE] = {TYPE_NUMBER, AT(segment.device)},
                      [WORD_ADDRESS] = {TYPE_ADDRESS, AT(segment.address)},
                      [WORD_TOTAL_SIZE] = {TYPE_SIZE, AT(segment.total_bytes)},
                      [WORD_STREAM] = {TYPE_ADDRESS, AT(segment.stream)},
                      [WORD_SEGMENT_POOL_ID] = {TYPE_POOL, AT(segment.pool)},
                      [WORD_IS_EXPANDABLE] = {TYPE_TRUTH, AT(segment.is_expandable)},
                      [WORD_FRAMES] = {TYPE_STACK, AT(segment.stack)},
                      [WORD_BLOCKS] = {TYPE_PART, 0}},
    [ROLE_BLOCK] = {[WORD_ADDRESS] = {TYPE_ADDRESS, AT(block.address)},
                    [WORD_SIZE] = {TYPE_SIZE, AT(block.size_bytes)},
                    [WORD_REQUESTED_SIZE] = {TYPE_SIZE, AT(block.requested_bytes)},
                    [WORD_STATE] = {TYPE_TEXT, AT(block.state)},
                    [WORD_FRAMES] = {TYPE_STACK, AT(block.stack)},
                    [WORD_HISTORY] = {TYPE_PART, 0}},
    [ROLE_PAST] =
        {[WORD_REAL_SIZE] = {TYPE_SIZE, AT(past.past_bytes)}, [WORD_FRAMES] = {TYPE_STACK, AT(past.past_stack)}},
    [ROLE_ENTRY] = {[WORD_ACTION] = {TYPE_TEXT, AT(entry.action)},
                    [WORD_ADDR] = {TYPE_ADDRESS, AT(entry.address)},
                    [WORD_SIZE] = {TYPE_SIZE, AT(entry.size_bytes)},
                    [WORD_DEVICE_FREE] = {TYPE_SIZE, AT(entry.device_free_bytes)},
                    [WORD_STREAM] = {TYPE_ADDRESS, AT(entry.stream)},
                    [WORD_TIME_US] = {TYPE_NUMBER, AT(entry.time_us)},
                    [WORD_POOL_ID] = {TYPE_POOL, AT(entry.pool)},
                    [WORD_CATEGORY] = {TYPE_TEXT, AT(entry.category)},
                    [WORD_FRAMES] = {TYPE_STACK, AT(entry.stack)}},
    [ROLE_ANNOTATION] = {[WORD_STAGE] = {TYPE_TEXT, AT(annotation.stage)},
                         [WORD_NAME] = {TYPE_TEXT, AT(annotation.name)},
                         [WORD_DEVICE] = {TYPE_NUMBER, AT(annotation.device)},
                         [WORD_TIME_US] = {TYPE_NUMBER, AT(annotation.time_us)}},
    [ROLE_FRAME] = {[WORD_NAME] = {TYPE_TEXT, AT(frame.function)},
                    [WORD_FILENAME] = {TYPE_TEXT, AT(frame.file)},
                    [WORD_LINE] = {TYPE_NUMBER, AT(frame.line)}},
};

static nm_status fail(const nm_snapshot_reader *reader, const char *text, nm_error *err)
{
    return nm_fail(err, NM_ERR_FORMAT, nm_pickle_offset(reader->pickle), "%s", text);
}

static bool has(const nm_snapshot_reader *reader, enum role role, enum word word)
{
    return (reader->seen[role] >> word & 1) != 0;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* A pool's two numbers as one. The default pool is (0, 0), and so 0 as where no pool is told. */
static uint64_t pool_of(const int32_t pair[2])
{
    return (uint64_t)(uint32_t)pair[0] << 32 | (uint32_t)pair[1];
}

static bool is_whole(const nm_pickle_cell *value)
{
    return value->tag == NM_PICKLE_INT || value->tag == NM_PICKLE_UNSIGNED;
}

static bool is_empty_list(const nm_pickle_cell *value)
{
    return value->tag == NM_PICKLE_VALUE && value->kind == KIND_STACK && value->integer == 0;
}

/* Puts the value at `target`; false when it is not of the type. None stands for an unknown of any type. */
static bool store(void *target, enum value_type type, const nm_pickle_cell *value)
{
    switch (type) {
    case TYPE_ADDRESS: /* streams too: often the address of a structure, and signed in some writers */
        *(uint64_t *)target = is_whole(value) ? (uint64_t)value->integer : 0;
        return is_whole(value);
    case TYPE_SIZE: /* -1 where the writer did not know, in some as 2^64 - 1 */
        *(uint64_t *)target = value->tag == NM_PICKLE_INT && value->integer > 0 ? (uint64_t)value->integer : 0;
        return is_whole(value);
    case TYPE_NUMBER:
        *(int64_t *)target = value->tag == NM_PICKLE_INT ? value->integer : 0;
        if (value->tag == NM_PICKLE_FLOAT && value->real > -4e15 && value->real < 4e15)
            *(int64_t *)target = (int64_t)value->real;
        return value->tag == NM_PICKLE_INT || value->tag == NM_PICKLE_FLOAT;
    case TYPE_TEXT:
        *(uint32_t *)target = value->tag == NM_PICKLE_TEXT ? (uint32_t)value->integer : 0;
        return value->tag == NM_PICKLE_TEXT;
    case TYPE_TRUTH:
        *(bool *)target = value->integer != 0;
        return value->tag == NM_PICKLE_BOOL || value->tag == NM_PICKLE_INT;
    case TYPE_STACK:
        *(uint32_t *)target = value->tag == NM_PICKLE_VALUE ? (uint32_t)value->integer : 0;
        return (value->tag == NM_PICKLE_VALUE && value->kind == KIND_STACK) || value->tag == NM_PICKLE_IGNORED;
    case TYPE_POOL:
        *(uint64_t *)target = value->tag == NM_PICKLE_PAIR ? pool_of(value->pair) : 0;
        return value->tag == NM_PICKLE_PAIR || value->tag == NM_PICKLE_IGNORED;
    case TYPE_PART:
        return value->tag == NM_PICKLE_TAKEN || is_empty_list(value);
    case TYPE_UNKNOWN:
        break;
    }
    return true;
}

/* What torch was told in words, or what came of it: no block above max_split_size is split, and rounding may be coarser. */
static bool changes_cut(const nm_snapshot_reader *reader, nm_bytes name, const nm_pickle_cell *value)
{
    nm_bytes text = {0};

    if (value->tag == NM_PICKLE_TEXT)
        text = nm_strings_get(&reader->tables->strings, (uint32_t)value->integer);
    if (text.data != NULL && (strstr((const char *)text.data, "max_split_size") != NULL ||
                              strstr((const char *)text.data, "roundup") != NULL))
        return true;
    return name.len == 14 && memcmp(name.data, "max_split_size", 14) == 0 && value->tag == NM_PICKLE_INT &&
           value->integer > 0;
}

static void note_setting(nm_snapshot_reader *reader, uint32_t key, const nm_pickle_cell *value)
{
    nm_bytes name = nm_strings_get(&reader->tables->strings, key);

    if (reader->list != NULL && changes_cut(reader, name, value))
        reader->list->has_cut_settings = true;
    if (reader->list != NULL && name.len >= 12 && memcmp(name.data, "PYTORCH_CUDA", 12) == 0)
        reader->list->has_cuda_settings = true;
    if (reader->list != NULL && name.len >= 11 && memcmp(name.data, "PYTORCH_NPU", 11) == 0)
        reader->list->has_npu_settings = true;
}

static void note_part(nm_snapshot_reader *reader, uint32_t key)
{
    if (reader->list == NULL || key == 0 || key == WORD_SETTINGS ||
        (key < WORD_KEYS_END && fields[ROLE_DOCUMENT][key].type != TYPE_UNKNOWN))
        return;
    if (reader->list->unknown_count++ == 0)
        reader->list->unknown_part = key;
}

static nm_status take_pair(void *context, uint32_t role, uint32_t key, const nm_pickle_cell *value, nm_error *err)
{
    nm_snapshot_reader *reader = context;

    if (role == ROLE_SETTINGS)
        note_setting(reader, key, value);
    if (role == ROLE_DOCUMENT)
        note_part(reader, key);
    if (key == 0 || key >= WORD_KEYS_END || fields[role][key].type == TYPE_UNKNOWN || value->tag == NM_PICKLE_NONE)
        return NM_OK;
    bool is_stored = store((char *)reader + fields[role][key].offset, fields[role][key].type, value);
    if (!is_stored && role != ROLE_FRAME) /* of a frame it is unknown, and the memory is as it is */
        return nm_fail(err, NM_ERR_FORMAT, nm_pickle_offset(reader->pickle), "%s is of an unexpected type", words[key]);
    reader->seen[role] |= UINT64_C(1) << key;
    return NM_OK;
}

static nm_status take_item(void *context, uint32_t role, const nm_pickle_cell *value, nm_error *err)
{
    nm_snapshot_reader *reader = context;

    if (role == ROLE_HISTORY || (role == ROLE_TRACES && is_empty_list(value)))
        return NM_OK;
    if (role != ROLE_FRAMES)
        return fail(reader, "a list holds something else than a snapshot has there, or one thing twice", err);
    if (value->tag == NM_PICKLE_IGNORED || value->tag == NM_PICKLE_NONE)
        return NM_OK;
    if (value->tag != NM_PICKLE_VALUE || value->kind != KIND_FRAME)
        return fail(reader, "a frame is no dictionary", err);
    if (reader->frames.count >= NM_SNAPSHOT_FRAMES_MAX)
        return nm_fail(err, NM_ERR_LIMIT, nm_pickle_offset(reader->pickle), "a stack of more than %d frames",
                       NM_SNAPSHOT_FRAMES_MAX);

    nm_status status = NM_OK;
    if (reader->frames.count == reader->frames.capacity)
        status = nm_array_grow(&reader->frames.items, &reader->frames.capacity, reader->frames.count + 1,
                               sizeof *reader->frames.items, err);
    if (status == NM_OK)
        reader->frames.items[reader->frames.count++] = (uint32_t)value->integer;
    return status;
}

/* ---- Containers begin and end ------------------------------------------------------------------------------------ */

static void start_draft(nm_snapshot_reader *reader, uint32_t role)
{
    reader->seen[role] = 0;
    reader->filled &= ~(1u << role);
    switch (role) {
    case ROLE_SEGMENT:
        reader->segment = (draft_segment){.first_block = reader->list != NULL ? reader->list->blocks.count : 0};
        break;
    case ROLE_BLOCK:
        reader->block = (draft_block){0};
        break;
    case ROLE_PAST:
        reader->past = (draft_block){0};
        break;
    case ROLE_ENTRY:
        reader->entry = (draft_entry){0};
        break;
    case ROLE_ANNOTATION:
        reader->annotation = (draft_annotation){0};
        break;
    case ROLE_FRAME:
        reader->frame = (draft_frame){0};
        break;
    case ROLE_FRAMES:
        reader->frames.count = 0;
        break;
    case ROLE_TRACE:
        reader->device = nm_pickle_place(reader->pickle);
        break;
    default:
        break;
    }
}

static uint32_t begin_container(void *context, uint32_t parent, uint32_t key, bool is_dict)
{
    nm_snapshot_reader *reader = context;

    for (size_t i = 0; i < sizeof structure / sizeof structure[0]; i++) {
        uint32_t role = structure[i].role;
        if (structure[i].parent != parent || structure[i].key != key || structure[i].is_dict != is_dict ||
            (parent == ROLE_TRACES && is_dict && !reader->is_host))
            continue;
        if ((reader->under_way >> role & 1) != 0)
            return NM_PICKLE_SKIP;
        reader->under_way |= 1u << role;
        if (parent == ROLE_DOCUMENT)
            reader->is_host = key == WORD_HOST_SEGMENTS || key == WORD_HOST_TRACES;
        start_draft(reader, role);
        return role;
    }
    /* Settings may hold anything, under any name but those that stand beside them. */
    bool is_of_settings = parent == ROLE_SETTINGS;
    for (size_t i = 0; i < sizeof structure / sizeof structure[0]; i++)
        is_of_settings = is_of_settings && (structure[i].parent != ROLE_DOCUMENT || structure[i].key != key);
    return is_of_settings ? NM_PICKLE_SKIP : NM_PICKLE_MISFIT;
}

/* Gives a number to (high, low): the one it has, or the next one. *is_new says that there is an item to add. */
static nm_status number_of(nm_map *map, nm_key key, size_t count, uint32_t *number, bool *is_new, nm_error *err)
{
    uint64_t *found = nm_map_get(map, key);

    *is_new = found == NULL;
    if (found != NULL) {
        *number = (uint32_t)*found;
        return NM_OK;
    }
    if (count + 1 >= NM_PICKLE_VALUE_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than %u distinct frames or stacks", NM_PICKLE_VALUE_MAX);
    *number = (uint32_t)(count + 1);
    return nm_map_put(map, key, *number, err);
}

/* A path of Windows (C:\\a\\b.py, .\\b.py) with the separators of all others, so that whoever looks for a folder finds it. */
static nm_status unify_path(nm_snapshot_tables *tables, uint32_t *file, nm_error *err)
{
    nm_bytes path = nm_strings_get(&tables->strings, *file);
    bool has_drive = path.len > 2 && path.data[1] == ':' && path.data[2] == '\\';
    nm_buffer text = {0};
    nm_status status;

    if (path.len == 0 || memchr(path.data, '\\', path.len) == NULL ||
        (!has_drive && memchr(path.data, '/', path.len) != NULL))
        return NM_OK;
    status = nm_buffer_append(&text, path.data, path.len, err);
    for (size_t i = 0; i < text.len; i++)
        text.data[i] = text.data[i] == '\\' ? '/' : text.data[i];
    if (status == NM_OK)
        status = nm_strings_intern(&tables->strings, (nm_bytes){text.data, text.len}, file, err);
    nm_buffer_free(&text);
    return status;
}

static nm_status end_frame(nm_snapshot_reader *reader, nm_pickle_cell *value, nm_error *err)
{
    nm_snapshot_tables *tables = reader->tables;
    draft_frame *draft = &reader->frame;
    nm_status status = unify_path(tables, &draft->file, err);
    uint32_t line = draft->line > 0 && draft->line <= UINT32_MAX ? (uint32_t)draft->line : 0;
    nm_key key = {(uint64_t)draft->function << 32 | draft->file, line};
    uint32_t number = 0;
    bool is_new = false;

    if (status == NM_OK)
        status = number_of(&tables->frame_of, key, tables->frames.count, &number, &is_new, err);
    if (status == NM_OK && is_new) {
        status = nm_array_grow(&tables->frames.items, &tables->frames.capacity, tables->frames.count + 1,
                               sizeof *tables->frames.items, err);
        if (status == NM_OK)
            tables->frames.items[tables->frames.count++] = (nm_snapshot_frame){draft->function, draft->file, line};
    }
    *value = (nm_pickle_cell){.tag = NM_PICKLE_VALUE, .kind = KIND_FRAME, .integer = number};
    return status;
}

/* A stack is a path of a prefix tree: from the outermost frame, which stands last in the file, inwards. */
static nm_status end_frames(nm_snapshot_reader *reader, nm_pickle_cell *value, nm_error *err)
{
    nm_snapshot_tables *tables = reader->tables;
    uint32_t stack = 0;
    nm_status status = NM_OK;

    for (size_t i = reader->frames.count; i > 0 && status == NM_OK; i--) {
        nm_snapshot_stack node = {stack, reader->frames.items[i - 1]};
        bool is_new;
        status =
            number_of(&tables->stack_of, (nm_key){node.parent, node.frame}, tables->stacks.count, &stack, &is_new, err);
        if (status != NM_OK || !is_new)
            continue;
        status = nm_array_grow(&tables->stacks.items, &tables->stacks.capacity, tables->stacks.count + 1,
                               sizeof *tables->stacks.items, err);
        if (status == NM_OK)
            tables->stacks.items[tables->stacks.count++] = node;
    }
    *value = (nm_pickle_cell){.tag = NM_PICKLE_VALUE, .kind = KIND_STACK, .integer = stack};
    return status;
}

static nm_snapshot_action action_of(uint32_t word)
{
    if (word < WORD_ACTION_FIRST || word > WORD_ACTION_LAST)
        return NM_SNAPSHOT_OTHER;
    return (nm_snapshot_action)(word - WORD_ACTION_FIRST + NM_SNAPSHOT_ALLOC);
}

/*
 * torch_npu puts three entries for each workspace block at the head of a trace: workspace_snapshot, segment_alloc, alloc,
 * all with one address. They say what was there when the file was written, not what happened first.
 */
static bool is_workspace(nm_snapshot_reader *reader, const nm_snapshot_entry *entry)
{
    bool is_next = entry->action == reader->workspace_next && entry->address == reader->workspace_address;

    if (entry->action == NM_SNAPSHOT_WORKSPACE) {
        reader->workspace_address = entry->address;
        reader->workspace_next = NM_SNAPSHOT_SEGMENT_ALLOC;
        return true;
    }
    is_next = is_next && reader->workspace_next != NM_SNAPSHOT_OTHER;
    reader->workspace_next =
        is_next && entry->action == NM_SNAPSHOT_SEGMENT_ALLOC ? NM_SNAPSHOT_ALLOC : NM_SNAPSHOT_OTHER;
    return is_next;
}

static nm_status end_entry(nm_snapshot_reader *reader, nm_error *err)
{
    const draft_entry *draft = &reader->entry;
    bool has_address = has(reader, ROLE_ENTRY, WORD_ADDR);
    nm_snapshot_action action = action_of(draft->action);
    bool needs_address = action >= NM_SNAPSHOT_ALLOC && action <= NM_SNAPSHOT_SEGMENT_UNMAP;

    if (reader->is_host && needs_address && !has_address)
        return NM_OK;
    if (!has(reader, ROLE_ENTRY, WORD_ACTION))
        return fail(reader, "a trace entry has no action", err);
    if (needs_address && (!has_address || !has(reader, ROLE_ENTRY, WORD_SIZE)))
        return fail(reader, "a trace entry has no addr or no size", err);
    if (draft->time_us > TIME_US_MAX || draft->time_us < -TIME_US_MAX)
        return fail(reader, "the time of a trace entry is out of range", err);
    if (reader->is_ready)
        return fail(reader, "two trace entries at once", err);
    if (!reader->is_host && reader->device >= NM_SNAPSHOT_DEVICES_MAX)
        return nm_fail(err, NM_ERR_LIMIT, nm_pickle_offset(reader->pickle), "traces of more than %d devices",
                       NM_SNAPSHOT_DEVICES_MAX);

    reader->ready = (nm_snapshot_entry){
        .action = action,
        .action_text = draft->action,
        .device = reader->is_host ? NM_SNAPSHOT_HOST : (uint32_t)reader->device,
        .stack = draft->stack,
        .category = draft->category,
        .address = draft->address,
        .size_bytes = draft->size_bytes,
        .device_free_bytes = draft->device_free_bytes,
        .stream = draft->stream,
        .pool = draft->pool,
        .time_us = draft->time_us,
        .has_stream = !reader->is_host && has(reader, ROLE_ENTRY, WORD_STREAM),
        .has_time = has(reader, ROLE_ENTRY, WORD_TIME_US),
        .has_device_free = has(reader, ROLE_ENTRY, WORD_DEVICE_FREE),
    };
    reader->ready.is_workspace = is_workspace(reader, &reader->ready);
    reader->is_ready = true;
    return NM_OK;
}

static nm_snapshot_state state_of(uint32_t word)
{
    switch (word) {
    case WORD_ACTIVE_ALLOCATED:
        return NM_SNAPSHOT_ACTIVE;
    case WORD_ACTIVE_PENDING_FREE:
    case WORD_ACTIVE_AWAITING_FREE:
        return NM_SNAPSHOT_PENDING;
    default:
        return NM_SNAPSHOT_INACTIVE;
    }
}

/* Of a block's history only the first item counts: the allocation it holds now. */
static void end_past(nm_snapshot_reader *reader)
{
    if (reader->list != NULL)
        reader->list->has_history = true;
    if (reader->block.past_bytes == 0)
        reader->block.past_bytes = reader->past.past_bytes;
    if (reader->block.past_stack == 0)
        reader->block.past_stack = reader->past.past_stack;
}

static nm_status end_block(nm_snapshot_reader *reader, nm_error *err)
{
    nm_snapshot_state_list *list = reader->list;
    const draft_block *draft = &reader->block;
    bool is_old = !has(reader, ROLE_BLOCK, WORD_REQUESTED_SIZE);

    if (!has(reader, ROLE_BLOCK, WORD_SIZE) || !has(reader, ROLE_BLOCK, WORD_STATE))
        return fail(reader, "a block has no size or no state", err);
    if (list == NULL)
        return NM_OK;

    nm_status status = nm_array_grow(&list->blocks.items, &list->blocks.capacity, list->blocks.count + 1,
                                     sizeof *list->blocks.items, err);
    if (status == NM_OK)
        list->blocks.items[list->blocks.count++] = (nm_snapshot_block){
            .address = has(reader, ROLE_BLOCK, WORD_ADDRESS) ? draft->address : UINT64_MAX,
            .size_bytes = draft->size_bytes,
            .requested_bytes = is_old ? draft->past_bytes : draft->requested_bytes,
            .stack = draft->stack != 0 ? draft->stack : draft->past_stack,
            .state = state_of(draft->state),
        };
    return status;
}

/* Old files do not give the address of a block: the blocks of a segment lie end to end. */
static void place_blocks(nm_snapshot_state_list *list, const nm_snapshot_segment *segment)
{
    uint64_t next = segment->address;

    for (size_t i = 0; i < segment->block_count; i++) {
        nm_snapshot_block *block = &list->blocks.items[segment->first_block + i];
        if (block->address == UINT64_MAX)
            block->address = next;
        next = block->address + block->size_bytes;
    }
}

static nm_status end_segment(nm_snapshot_reader *reader, nm_error *err)
{
    nm_snapshot_state_list *list = reader->list;
    const draft_segment *draft = &reader->segment;

    if (!has(reader, ROLE_SEGMENT, WORD_ADDRESS) || !has(reader, ROLE_SEGMENT, WORD_TOTAL_SIZE))
        return fail(reader, "a segment has no address or no total_size", err);
    if (!reader->is_host && (draft->device < 0 || draft->device >= NM_SNAPSHOT_DEVICES_MAX))
        return fail(reader, "the device of a segment is out of range", err);
    if (list == NULL)
        return NM_OK;

    nm_status status = nm_array_grow(&list->segments.items, &list->segments.capacity, list->segments.count + 1,
                                     sizeof *list->segments.items, err);
    if (status != NM_OK)
        return status;
    nm_snapshot_segment *segment = &list->segments.items[list->segments.count++];
    *segment = (nm_snapshot_segment){
        .address = draft->address,
        .total_bytes = draft->total_bytes,
        .stream = draft->stream,
        .pool = draft->pool,
        .device = reader->is_host ? NM_SNAPSHOT_HOST : (uint32_t)draft->device,
        .stack = draft->stack,
        .has_stream = !reader->is_host && has(reader, ROLE_SEGMENT, WORD_STREAM),
        .is_expandable = draft->is_expandable,
        .first_block = draft->first_block,
        .block_count = list->blocks.count - draft->first_block,
    };
    place_blocks(list, segment);
    return NM_OK;
}

static nm_status end_annotation(nm_snapshot_reader *reader, nm_error *err)
{
    nm_snapshot_state_list *list = reader->list;
    const draft_annotation *draft = &reader->annotation;

    if (draft->stage != WORD_START && draft->stage != WORD_END)
        return fail(reader, "an annotation is neither START nor END", err);
    if (draft->time_us > TIME_US_MAX || draft->time_us < -TIME_US_MAX)
        return fail(reader, "the time of an annotation is out of range", err);
    if (draft->device < 0 || draft->device >= NM_SNAPSHOT_DEVICES_MAX)
        return fail(reader, "the device of an annotation is out of range", err);
    if (list == NULL)
        return NM_OK;
    if (list->annotations.count >= UINT32_MAX - 1)
        return fail(reader, "more than 4 billion annotations", err);

    nm_status status = nm_array_grow(&list->annotations.items, &list->annotations.capacity, list->annotations.count + 1,
                                     sizeof *list->annotations.items, err);
    if (status == NM_OK)
        list->annotations.items[list->annotations.count++] = (nm_snapshot_annotation){
            .time_us = draft->time_us,
            .name = draft->name,
            .device = (uint32_t)draft->device,
            .is_end = draft->stage == WORD_END,
            .has_time = has(reader, ROLE_ANNOTATION, WORD_TIME_US),
        };
    return status;
}

static nm_status end_document(nm_snapshot_reader *reader, nm_error *err)
{
    if (!has(reader, ROLE_DOCUMENT, WORD_SEGMENTS) && !has(reader, ROLE_DOCUMENT, WORD_DEVICE_TRACES))
        return fail(reader, "a pickle, but no memory snapshot: neither segments nor device_traces", err);
    reader->is_snapshot = true;
    return NM_OK;
}

/* What a container is worth that has been made use of. */
static nm_pickle_cell worth(nm_snapshot_reader *reader, uint32_t role)
{
    static const uint8_t around[ROLE_COUNT] = {
        [ROLE_SEGMENT] = ROLE_SEGMENTS, [ROLE_BLOCK] = ROLE_BLOCKS, [ROLE_PAST] = ROLE_HISTORY,
        [ROLE_TRACE] = ROLE_TRACES,     [ROLE_ENTRY] = ROLE_TRACE,  [ROLE_ANNOTATION] = ROLE_ANNOTATIONS,
    };
    uint32_t lists = 1u << ROLE_SEGMENTS | 1u << ROLE_BLOCKS | 1u << ROLE_HISTORY | 1u << ROLE_TRACES |
                     1u << ROLE_TRACE | 1u << ROLE_ANNOTATIONS;
    bool is_empty = (lists & ~reader->filled & 1u << role) != 0;

    reader->filled |= 1u << around[role] | (role == ROLE_ENTRY && reader->is_host ? 1u << ROLE_TRACES : 0);
    if (is_empty)
        return (nm_pickle_cell){.tag = NM_PICKLE_VALUE, .kind = KIND_STACK};
    return (nm_pickle_cell){.tag = NM_PICKLE_TAKEN};
}

static nm_status end_container(void *context, uint32_t role, nm_pickle_cell *value, nm_error *err)
{
    nm_snapshot_reader *reader = context;

    reader->under_way &= ~(1u << role);
    *value = worth(reader, role);
    switch ((enum role)role) {
    case ROLE_FRAME:
        return end_frame(reader, value, err);
    case ROLE_FRAMES:
        return end_frames(reader, value, err);
    case ROLE_ENTRY:
        return end_entry(reader, err);
    case ROLE_TRACE:
        reader->workspace_next = NM_SNAPSHOT_OTHER;
        return NM_OK;
    case ROLE_PAST:
        end_past(reader);
        return NM_OK;
    case ROLE_BLOCK:
        return end_block(reader, err);
    case ROLE_SEGMENT:
        return end_segment(reader, err);
    case ROLE_ANNOTATION:
        return end_annotation(reader, err);
    case ROLE_DOCUMENT:
        return end_document(reader, err);
    case ROLE_SEGMENTS:
        reader->is_snapshot = reader->is_snapshot || !reader->is_host;
        return NM_OK;
    case ROLE_SETTINGS:
    case ROLE_ANNOTATIONS:
        if (reader->list != NULL)
            reader->list->has_settings = true;
        return NM_OK;
    default:
        return NM_OK;
    }
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

nm_status nm_snapshot_tables_init(nm_snapshot_tables *tables, nm_error *err)
{
    nm_status status = NM_OK;
    uint32_t number;

    *tables = (nm_snapshot_tables){0};
    for (int i = 1; i < WORD_COUNT && status == NM_OK; i++)
        status =
            nm_strings_intern(&tables->strings, (nm_bytes){(const uint8_t *)words[i], strlen(words[i])}, &number, err);
    return status;
}

void nm_snapshot_tables_free(nm_snapshot_tables *tables)
{
    nm_strings_free(&tables->strings);
    free(tables->frames.items);
    free(tables->stacks.items);
    nm_map_free(&tables->frame_of);
    nm_map_free(&tables->stack_of);
    *tables = (nm_snapshot_tables){0};
}

void nm_snapshot_state_list_free(nm_snapshot_state_list *list)
{
    free(list->segments.items);
    free(list->blocks.items);
    free(list->annotations.items);
    *list = (nm_snapshot_state_list){0};
}

nm_status nm_snapshot_reader_new(int fd, uint64_t size_bytes, nm_snapshot_tables *tables, nm_snapshot_state_list *list,
                                 nm_snapshot_reader **out, nm_error *err)
{
    nm_snapshot_reader *reader = calloc(1, sizeof *reader);

    *out = NULL;
    if (reader == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    reader->tables = tables;
    reader->list = list;
    nm_pickle_handler handler = {reader, begin_container, take_pair, take_item, end_container};
    nm_status status = nm_pickle_new(fd, size_bytes, &handler, &tables->strings, WORD_COUNT - 1, &reader->pickle, err);
    if (status != NM_OK) {
        nm_snapshot_reader_free(reader);
        return status;
    }
    if (list != NULL) {
        nm_checksum_begin(&list->sum);
        nm_pickle_sum(reader->pickle, &list->sum);
    }
    *out = reader;
    return NM_OK;
}

void nm_snapshot_reader_free(nm_snapshot_reader *reader)
{
    if (reader == NULL)
        return;
    nm_pickle_free(reader->pickle);
    free(reader->frames.items);
    free(reader);
}

nm_status nm_snapshot_reader_next(nm_snapshot_reader *reader, nm_snapshot_entry *entry, nm_error *err)
{
    while (!reader->is_ready && !reader->is_at_end) {
        nm_status status = nm_pickle_step(reader->pickle, err);
        if (status != NM_OK && status != NM_END)
            return status;
        reader->is_at_end = status == NM_END;
    }
    if (reader->is_at_end && !reader->is_snapshot)
        return nm_fail(err, NM_ERR_FORMAT, 0, "a pickle, but no memory snapshot");
    if (!reader->is_ready)
        return NM_END;
    *entry = reader->ready;
    reader->is_ready = false;
    return NM_OK;
}

uint64_t nm_snapshot_reader_offset(const nm_snapshot_reader *reader)
{
    return nm_pickle_offset(reader->pickle);
}
