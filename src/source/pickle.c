/* SPDX-License-Identifier: Apache-2.0
 *
 * The pickle machine. A stack of 16-byte cells, a stack of marks, the containers under way, and the memo. No function
 * recurses; every length is compared with what is left of the file before it is used. A container of role SKIP is an
 * IGNORED cell from its birth: what is put into it is dropped.
 *
 * A dictionary is known to be complete only when something else happens to it, so `end` is called late: when it is put
 * into its parent, or when the next container is pushed on top of it. An item that was TAKEN then leaves the stack at
 * once, which is what keeps a list of a million entries between one MARK and one APPENDS from piling up.
 */
#include "source/pickle.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/io.h"
#include "base/map.h"
#include "base/text.h"

#define BUFFER_BYTES 262144u /* holds the longest text that is kept, and more */
#define PAGE_ENTRIES 4096u   /* memo entries allocated at a time */
#define NO_MEMO      UINT64_MAX
#define CODE_BITS    4
#define CODE_VALUE   8 /* codes from here on: VALUE, kind = code - CODE_VALUE */

/* What a memo entry holds: a code in its low bits, a number above them. */
enum memo_code { CODE_UNSET = 0, CODE_OPEN, CODE_TEXT, CODE_NUMBER, CODE_IGNORED };

typedef struct open_container {
    size_t position; /* of its cell */
    uint64_t memo;   /* its memo entry, or NO_MEMO */
    uint64_t given;  /* items handed over to it */
    uint32_t role;
    bool is_dict;
} open_container;

struct nm_pickle {
    int fd;
    uint64_t size_bytes;
    uint8_t *buffer;
    size_t at, filled;      /* in the buffer: next byte, end of what is there */
    uint64_t buffer_offset; /* of buffer[0] in the file */
    uint64_t op_offset;
    nm_checksum_run *sum; /* borrowed; of all bytes that were read, or NULL */

    nm_pickle_handler handler;
    nm_strings *strings;
    uint32_t known_count;

    struct {
        nm_pickle_cell *items;
        size_t count, capacity;
    } cells;
    struct {
        size_t *items;
        size_t count, capacity;
    } marks;
    struct {
        open_container *items;
        size_t count, capacity;
    } opens;
    struct {
        uint32_t **items; /* pages, NULL where none of their entries is set */
        size_t count, capacity;
    } pages;
    uint32_t *ignored_page; /* stands for each page whose entries are all ignored; NULL: there is none yet */
    uint64_t memo_count;    /* entries set */
    struct {
        nm_pickle_cell *items; /* numbers and pairs that stand in the memo, each once */
        size_t count, capacity;
    } numbers;
    nm_map number_of; /* (tag, bits) -> index */
};

typedef nm_status operation(nm_pickle *pickle, uint64_t argument, nm_error *err);

static nm_status fail(nm_pickle *pickle, const char *text, nm_error *err)
{
    return nm_fail(err, NM_ERR_FORMAT, pickle->op_offset, "%s", text);
}

/* ---- Input ------------------------------------------------------------------------------------------------------- */

static uint64_t input_offset(const nm_pickle *pickle)
{
    return pickle->buffer_offset + pickle->at;
}

static nm_status cut(const nm_pickle *pickle, nm_error *err)
{
    return nm_fail(err, NM_ERR_FORMAT, pickle->buffer_offset + pickle->filled,
                   "the pickle is cut: it ends before its STOP");
}

static nm_status refill(nm_pickle *pickle, size_t len, nm_error *err)
{
    size_t left = pickle->filled - pickle->at;
    size_t got;

    memmove(pickle->buffer, pickle->buffer + pickle->at, left);
    pickle->buffer_offset += pickle->at;
    pickle->at = 0;
    pickle->filled = left;
    nm_status status = nm_io_read(pickle->fd, pickle->buffer + left, BUFFER_BYTES - left, &got, err);
    if (status != NM_OK)
        return status;
    if (pickle->sum != NULL)
        nm_checksum_add(pickle->sum, pickle->buffer + left, got);
    pickle->filled += got;
    return len <= pickle->filled ? NM_OK : cut(pickle, err);
}

/* Makes `len` bytes (at most BUFFER_BYTES) lie at buffer + at. */
static inline nm_status need(nm_pickle *pickle, size_t len, nm_error *err)
{
    return len <= pickle->filled - pickle->at ? NM_OK : refill(pickle, len, err);
}

static nm_status skip(nm_pickle *pickle, uint64_t len, nm_error *err)
{
    nm_status status = NM_OK;

    while (len > 0 && status == NM_OK) {
        size_t part = len < BUFFER_BYTES ? (size_t)len : BUFFER_BYTES;
        status = need(pickle, part, err);
        if (status == NM_OK) {
            pickle->at += part;
            len -= part;
        }
    }
    return status;
}

/* A length that the file states: is there as much left? */
static nm_status check_length(nm_pickle *pickle, uint64_t len, const char *what, nm_error *err)
{
    uint64_t offset = input_offset(pickle);

    if (offset <= pickle->size_bytes && len <= pickle->size_bytes - offset)
        return NM_OK;
    return nm_fail(err, NM_ERR_FORMAT, pickle->op_offset, "%s of %llu bytes runs past the end of the file", what,
                   (unsigned long long)len);
}

/* ---- Memo -------------------------------------------------------------------------------------------------------- */

static inline uint32_t memo_get(const nm_pickle *pickle, uint64_t index)
{
    uint64_t page = index / PAGE_ENTRIES;

    if (page >= pickle->pages.count || pickle->pages.items[page] == NULL)
        return CODE_UNSET;
    return pickle->pages.items[page][index % PAGE_ENTRIES];
}

static bool is_all_ignored(const uint32_t *entries)
{
    for (size_t i = 0; i < PAGE_ENTRIES; i++)
        if (entries[i] != CODE_IGNORED)
            return false;
    return true;
}

/* Nearly all that a large pickle numbers are entries of its traces, which nothing names again: a page of nothing else
 * is kept once for all. */
static void memo_fold(nm_pickle *pickle, size_t page)
{
    uint32_t *entries = page < pickle->pages.count ? pickle->pages.items[page] : NULL;

    if (entries == NULL || entries == pickle->ignored_page || !is_all_ignored(entries))
        return;
    if (pickle->ignored_page == NULL)
        pickle->ignored_page = entries;
    else
        free(entries);
    pickle->pages.items[page] = pickle->ignored_page;
}

/* A page of the memo in which nothing is set yet. The one before the last is as it will stay, mostly. */
static nm_status memo_page(nm_pickle *pickle, size_t page, nm_error *err)
{
    if (page >= 2)
        memo_fold(pickle, page - 2);
    nm_status status =
        nm_array_grow(&pickle->pages.items, &pickle->pages.capacity, page + 1, sizeof *pickle->pages.items, err);

    if (status != NM_OK)
        return status;
    if (page >= pickle->pages.count)
        pickle->pages.count = page + 1;
    pickle->pages.items[page] = calloc(PAGE_ENTRIES, sizeof **pickle->pages.items);
    return pickle->pages.items[page] != NULL
               ? NM_OK
               : nm_fail(err, NM_ERR_MEMORY, pickle->op_offset, "out of memory at a memo of %llu entries",
                         (unsigned long long)pickle->memo_count);
}

static inline nm_status memo_set(nm_pickle *pickle, uint64_t index, uint32_t entry, nm_error *err)
{
    size_t page = (size_t)(index / PAGE_ENTRIES);
    nm_status status = NM_OK;

    if (page >= pickle->pages.count || pickle->pages.items[page] == NULL)
        status = memo_page(pickle, page, err);
    if (status != NM_OK)
        return status;
    assert(pickle->pages.items[page] != pickle->ignored_page); /* all its entries are set, and none is open */
    pickle->pages.items[page][index % PAGE_ENTRIES] = entry;
    return NM_OK;
}

/* Numbers, truth values and pairs have no room in four bytes: they are kept once each, and numbered. */
static nm_status number_index(nm_pickle *pickle, const nm_pickle_cell *cell, uint32_t *index, nm_error *err)
{
    nm_key key = {cell->tag, (uint64_t)cell->integer};
    uint64_t *found = nm_map_get(&pickle->number_of, key);

    if (found != NULL) {
        *index = (uint32_t)*found;
        return NM_OK;
    }
    if (pickle->numbers.count >= NM_PICKLE_NUMBERS_MAX)
        return nm_fail(err, NM_ERR_LIMIT, pickle->op_offset, "more than %u distinct numbers and tuples in the memo",
                       NM_PICKLE_NUMBERS_MAX);

    nm_status status = nm_array_grow(&pickle->numbers.items, &pickle->numbers.capacity, pickle->numbers.count + 1,
                                     sizeof *pickle->numbers.items, err);
    if (status == NM_OK)
        status = nm_map_put(&pickle->number_of, key, pickle->numbers.count, err);
    if (status != NM_OK)
        return status;
    *index = (uint32_t)pickle->numbers.count;
    pickle->numbers.items[pickle->numbers.count++] = *cell;
    return NM_OK;
}

static nm_status encode(nm_pickle *pickle, const nm_pickle_cell *cell, uint32_t *entry, nm_error *err)
{
    uint32_t number = 0;
    uint32_t code = CODE_NUMBER;
    nm_status status = NM_OK;

    switch ((nm_pickle_tag)cell->tag) {
    case NM_PICKLE_IGNORED:
    case NM_PICKLE_TAKEN:
        code = CODE_IGNORED;
        break;
    case NM_PICKLE_TEXT:
        code = CODE_TEXT;
        number = (uint32_t)cell->integer;
        break;
    case NM_PICKLE_VALUE:
        code = CODE_VALUE + cell->kind;
        number = (uint32_t)cell->integer;
        break;
    case NM_PICKLE_OPEN:
        code = CODE_OPEN;
        number = (uint32_t)cell->integer;
        break;
    default:
        status = number_index(pickle, cell, &number, err);
        break;
    }
    *entry = number << CODE_BITS | code;
    return status;
}

static inline nm_pickle_cell decode(const nm_pickle *pickle, uint32_t entry)
{
    uint32_t code = entry & ((1u << CODE_BITS) - 1);
    uint32_t number = entry >> CODE_BITS;

    if (code >= CODE_VALUE)
        return (nm_pickle_cell){.tag = NM_PICKLE_VALUE, .kind = code - CODE_VALUE, .integer = number};
    if (code == CODE_TEXT)
        return (nm_pickle_cell){.tag = NM_PICKLE_TEXT, .integer = number};
    if (code == CODE_NUMBER)
        return pickle->numbers.items[number];
    return (nm_pickle_cell){.tag = NM_PICKLE_IGNORED};
}

/* ---- Stack ------------------------------------------------------------------------------------------------------- */

static nm_status grow_stack(nm_pickle *pickle, nm_error *err)
{
    if (pickle->cells.count >= NM_PICKLE_STACK_MAX)
        return nm_fail(err, NM_ERR_LIMIT, pickle->op_offset, "nested too deep: more than %u values on the stack",
                       NM_PICKLE_STACK_MAX);
    return nm_array_grow(&pickle->cells.items, &pickle->cells.capacity, pickle->cells.count + 1,
                         sizeof *pickle->cells.items, err);
}

static inline nm_status push(nm_pickle *pickle, nm_pickle_cell cell, nm_error *err)
{
    if (pickle->cells.count == pickle->cells.capacity) { /* capacities are powers of two, and so is the limit */
        nm_status status = grow_stack(pickle, err);
        if (status != NM_OK)
            return status;
    }
    pickle->cells.items[pickle->cells.count++] = cell;
    return NM_OK;
}

static inline nm_status push_tag(nm_pickle *pickle, nm_pickle_tag tag, int64_t integer, nm_error *err)
{
    return push(pickle, (nm_pickle_cell){.tag = tag, .integer = integer}, err);
}

/* The lowest cell that an opcode may take without reaching past the last mark. */
static inline size_t floor_of(const nm_pickle *pickle)
{
    return pickle->marks.count == 0 ? 0 : pickle->marks.items[pickle->marks.count - 1];
}

static inline open_container *last_open(const nm_pickle *pickle)
{
    return pickle->opens.count == 0 ? NULL : &pickle->opens.items[pickle->opens.count - 1];
}

/* Where what is pushed now stands, seen from the innermost container under way. */
typedef struct place {
    open_container *open; /* NULL: there is none */
    bool has_mark;        /* a mark stands above it */
    bool is_direct;       /* and nothing but the container's own contents below the mark */
    size_t index;         /* how many cells lie between */
} place;

static inline place place_now(const nm_pickle *pickle)
{
    place here = {.open = last_open(pickle)};

    if (here.open == NULL)
        return here;
    size_t start = here.open->position + 1;
    here.has_mark = pickle->marks.count > 0 && floor_of(pickle) >= start;
    here.is_direct = !here.has_mark || floor_of(pickle) == start;
    here.index = pickle->cells.count - start;
    return here;
}

/* Asks the handler what the container in `cell` is worth, and tells its memo entry. */
static nm_status finish(nm_pickle *pickle, nm_pickle_cell *cell, nm_error *err)
{
    open_container open = pickle->opens.items[cell->integer];
    nm_pickle_cell value = {.tag = NM_PICKLE_IGNORED};
    uint32_t entry;
    nm_status status = pickle->handler.end(pickle->handler.context, open.role, &value, err);

    if (status == NM_OK && open.memo != NO_MEMO) {
        status = encode(pickle, &value, &entry, err);
        if (status == NM_OK)
            status = memo_set(pickle, open.memo, entry, err);
    }
    if (status == NM_OK)
        *cell = value;
    return status;
}

/* Finishes the innermost container under way where it stands. */
static nm_status finish_last(nm_pickle *pickle, nm_error *err)
{
    nm_pickle_cell *cell = &pickle->cells.items[last_open(pickle)->position];
    nm_status status = finish(pickle, cell, err);

    pickle->opens.count--;
    return status;
}

/* Finishes what is under way from cell `from` on, in order. */
static nm_status settle(nm_pickle *pickle, size_t from, nm_error *err)
{
    nm_status status = NM_OK;

    if (pickle->opens.count == 0 || last_open(pickle)->position < from)
        return NM_OK;
    for (size_t i = from; i < pickle->cells.count && status == NM_OK; i++)
        if (pickle->cells.items[i].tag == NM_PICKLE_OPEN)
            status = finish(pickle, &pickle->cells.items[i], err);
    while (pickle->opens.count > 0 && last_open(pickle)->position >= from)
        pickle->opens.count--;
    return status;
}

/* ---- Containers -------------------------------------------------------------------------------------------------- */

/* The dictionary on top of the stack is complete. What was taken leaves the stack, if it stands in a list. */
static nm_status finish_top_dict(nm_pickle *pickle, nm_error *err)
{
    nm_status status = finish_last(pickle, err);
    place here = place_now(pickle);

    if (status == NM_OK && here.open != NULL && !here.open->is_dict && here.has_mark && here.is_direct &&
        pickle->cells.items[pickle->cells.count - 1].tag == NM_PICKLE_TAKEN)
        pickle->cells.count--;
    return status;
}

static uint32_t key_below(const nm_pickle *pickle)
{
    const nm_pickle_cell *below = &pickle->cells.items[pickle->cells.count - 1];

    return below->tag == NM_PICKLE_TEXT ? (uint32_t)below->integer : 0;
}

/* May the dictionary be complete already, so that the text on top of it is the next key of the one around it? */
static bool is_in_dict(const nm_pickle *pickle)
{
    return pickle->opens.count > 1 && pickle->opens.items[pickle->opens.count - 2].is_dict;
}

/* Does what was a container stand right above the dictionary? It is no key, so the dictionary was complete, and both are
 * items of the list around it: the second one was written before, and is only referred to. */
static bool is_passed(const nm_pickle *pickle, place here)
{
    return !here.has_mark && here.index > 0 && pickle->cells.items[here.open->position + 1].tag == NM_PICKLE_VALUE;
}

/*
 * One look at the innermost container under way. *role is what the new container is in it, or NM_PICKLE_MISFIT when
 * that one turned out to be complete: it has been finished then, and the one around it is to be looked at.
 */
static nm_status role_in(nm_pickle *pickle, place here, bool is_dict, uint32_t *role, nm_error *err)
{
    const nm_pickle_handler *handler = &pickle->handler;

    *role = NM_PICKLE_SKIP;
    if (!here.is_direct)
        return NM_OK;
    if (here.open->is_dict) {
        if (here.index == 0 && !here.has_mark) {
            *role = NM_PICKLE_MISFIT; /* a container is no key */
            return finish_top_dict(pickle, err);
        }
        if (is_passed(pickle, here)) {
            *role = NM_PICKLE_MISFIT;
            return finish_last(pickle, err);
        }
        if (here.index % 2 == 0 || key_below(pickle) == 0)
            return NM_OK;
        *role = handler->begin(handler->context, here.open->role, key_below(pickle), is_dict);
        if (*role == NM_PICKLE_MISFIT && !here.has_mark && is_in_dict(pickle))
            return finish_last(pickle, err);
    } else {
        *role = NM_PICKLE_MISFIT;
        if (here.index == 0 || here.has_mark)
            *role = handler->begin(handler->context, here.open->role, 0, is_dict);
        if (*role == NM_PICKLE_MISFIT && !here.has_mark)
            return finish_last(pickle, err);
    }
    if (*role == NM_PICKLE_MISFIT)
        *role = NM_PICKLE_SKIP;
    return NM_OK;
}

static nm_status find_role(nm_pickle *pickle, bool is_dict, uint32_t *role, nm_error *err)
{
    const nm_pickle_handler *handler = &pickle->handler;
    nm_status status = NM_OK;

    *role = NM_PICKLE_MISFIT;
    while (*role == NM_PICKLE_MISFIT && status == NM_OK) {
        place here = place_now(pickle);
        if (here.open == NULL)
            break;
        status = role_in(pickle, here, is_dict, role, err);
    }
    if (*role == NM_PICKLE_MISFIT && status == NM_OK)
        *role =
            pickle->cells.count > 0 ? NM_PICKLE_SKIP : handler->begin(handler->context, NM_PICKLE_OUTSIDE, 0, is_dict);
    return status;
}

static nm_status begin_container(nm_pickle *pickle, bool is_dict, nm_error *err)
{
    uint32_t role;
    nm_status status = find_role(pickle, is_dict, &role, err);

    if (status != NM_OK)
        return status;
    if (role < NM_PICKLE_ROLE_FIRST)
        return push_tag(pickle, NM_PICKLE_IGNORED, 0, err);
    if (pickle->opens.count >= NM_PICKLE_DEPTH_MAX)
        return nm_fail(err, NM_ERR_LIMIT, pickle->op_offset, "nested too deep: more than %d containers under way",
                       NM_PICKLE_DEPTH_MAX);

    status = nm_array_grow(&pickle->opens.items, &pickle->opens.capacity, pickle->opens.count + 1,
                           sizeof *pickle->opens.items, err);
    if (status == NM_OK)
        status = push_tag(pickle, NM_PICKLE_OPEN, (int64_t)pickle->opens.count, err);
    if (status == NM_OK)
        pickle->opens.items[pickle->opens.count++] =
            (open_container){pickle->cells.count - 1, NO_MEMO, 0, role, is_dict};
    return status;
}

/* Hands the cells from `from` on to the container just below them. */
static nm_status fill(nm_pickle *pickle, size_t from, bool is_dict, nm_error *err)
{
    const nm_pickle_handler *handler = &pickle->handler;
    nm_pickle_cell *cells = pickle->cells.items;
    nm_pickle_cell target = cells[from - 1];
    nm_status status = settle(pickle, from, err);

    if (target.tag == NM_PICKLE_OPEN) {
        open_container *open = &pickle->opens.items[target.integer];
        open->given += pickle->cells.count - from;
        if (open->is_dict != is_dict)
            return fail(pickle, is_dict ? "puts a key into a list" : "appends to a dictionary", err);
        for (size_t i = from; i < pickle->cells.count && status == NM_OK; i += 1 + is_dict) {
            uint32_t key = cells[i].tag == NM_PICKLE_TEXT ? (uint32_t)cells[i].integer : 0;
            if (is_dict)
                status = handler->pair(handler->context, open->role, key, &cells[i + 1], err);
            else if (cells[i].tag != NM_PICKLE_TAKEN)
                status = handler->item(handler->context, open->role, &cells[i], err);
        }
    } else if (target.tag != NM_PICKLE_IGNORED) {
        return fail(pickle, "adds to something that is not a container, or is complete", err);
    }
    pickle->cells.count = from;
    return status;
}

static nm_status fill_last(nm_pickle *pickle, size_t cell_count, bool is_dict, nm_error *err)
{
    if (pickle->cells.count < floor_of(pickle) + cell_count + 1)
        return fail(pickle, "takes more values than there are", err);
    return fill(pickle, pickle->cells.count - cell_count, is_dict, err);
}

static nm_status pop_mark(nm_pickle *pickle, size_t *position, nm_error *err)
{
    if (pickle->marks.count == 0)
        return fail(pickle, "there is no MARK", err);
    *position = pickle->marks.items[--pickle->marks.count];
    return NM_OK;
}

static nm_status fill_from_mark(nm_pickle *pickle, bool is_dict, nm_error *err)
{
    size_t from = 0;
    nm_status status = pop_mark(pickle, &from, err);

    if (status != NM_OK)
        return status;
    if (from == 0 || from - 1 < floor_of(pickle))
        return fail(pickle, "there is no container to add to", err);
    if (is_dict && (pickle->cells.count - from) % 2 != 0)
        return fail(pickle, "a key has no value", err);
    return fill(pickle, from, is_dict, err);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static nm_status op_proto(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    if (argument > NM_PICKLE_PROTOCOL_MAX)
        return nm_fail(err, NM_ERR_VERSION, pickle->op_offset, "pickle protocol %u is newer than %d",
                       (unsigned)argument, NM_PICKLE_PROTOCOL_MAX);
    if (argument < NM_PICKLE_PROTOCOL_MIN)
        return nm_fail(err, NM_ERR_FORMAT, pickle->op_offset, "pickle protocol %u is not read", (unsigned)argument);
    return NM_OK;
}

static nm_status op_frame(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    return check_length(pickle, argument, "a frame", err);
}

static nm_status op_mark(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    if (pickle->marks.count >= NM_PICKLE_DEPTH_MAX)
        return nm_fail(err, NM_ERR_LIMIT, pickle->op_offset, "nested too deep: more than %d marks",
                       NM_PICKLE_DEPTH_MAX);

    nm_status status = nm_array_grow(&pickle->marks.items, &pickle->marks.capacity, pickle->marks.count + 1,
                                     sizeof *pickle->marks.items, err);
    if (status == NM_OK)
        pickle->marks.items[pickle->marks.count++] = pickle->cells.count;
    return status;
}

static nm_status op_stop(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    if (pickle->cells.count != 1 || pickle->marks.count != 0)
        return fail(pickle, "STOP with something left over", err);
    nm_status status = settle(pickle, 0, err);
    return status == NM_OK ? NM_END : status;
}

static nm_status op_none(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return push_tag(pickle, NM_PICKLE_NONE, 0, err);
}

static nm_status op_true(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return push_tag(pickle, NM_PICKLE_BOOL, 1, err);
}

static nm_status op_false(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return push_tag(pickle, NM_PICKLE_BOOL, 0, err);
}

static nm_status op_int(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    return push_tag(pickle, NM_PICKLE_INT, (int64_t)argument, err);
}

static nm_status op_int32(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    return push_tag(pickle, NM_PICKLE_INT, (int32_t)(uint32_t)argument, err);
}

static nm_status op_float(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    uint64_t bits = __builtin_bswap64(argument); /* the only big-endian number of the format */
    nm_pickle_cell cell = {.tag = NM_PICKLE_FLOAT};

    memcpy(&cell.real, &bits, sizeof bits);
    return push(pickle, cell, err);
}

/* A whole number of `argument` bytes, lowest first, in two's complement. */
static nm_status op_long(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    nm_status status = check_length(pickle, argument, "a number", err);
    uint8_t bytes[9] = {0};

    if (status != NM_OK)
        return status;
    if (argument > sizeof bytes) {
        status = skip(pickle, argument, err);
        return status == NM_OK ? push_tag(pickle, NM_PICKLE_IGNORED, 0, err) : status;
    }
    status = need(pickle, (size_t)argument, err);
    if (status != NM_OK)
        return status;
    memcpy(bytes, pickle->buffer + pickle->at, (size_t)argument);
    pickle->at += (size_t)argument;
    if (argument > 0 && (bytes[argument - 1] & 0x80) != 0)
        memset(bytes + argument, 0xff, sizeof bytes - (size_t)argument);

    uint64_t value = nm_get_u64(bytes);
    bool is_negative = bytes[8] == 0xff;
    if ((bytes[8] != 0 && !is_negative) || (is_negative && value <= INT64_MAX))
        return push_tag(pickle, NM_PICKLE_IGNORED, 0, err);
    bool is_large = !is_negative && value > INT64_MAX;
    return push_tag(pickle, is_large ? NM_PICKLE_UNSIGNED : NM_PICKLE_INT, (int64_t)value, err);
}

/* Will nobody ask for the text that is to be pushed? */
static bool is_unwanted(const nm_pickle *pickle)
{
    size_t mark = floor_of(pickle);
    place here = place_now(pickle);

    if (mark > 0 && pickle->cells.items[mark - 1].tag == NM_PICKLE_IGNORED)
        return true;
    if (here.open == NULL || !here.is_direct || here.index % 2 == 0 || (here.has_mark && !here.open->is_dict))
        return false;
    return key_below(pickle) > pickle->known_count;
}

/* What is too long is cut: of the rest no more is looked at than its length. */
static nm_status intern_text(nm_pickle *pickle, uint64_t len, uint32_t *number, nm_error *err)
{
    size_t at_hand = len <= NM_TEXT_BYTES_MAX ? (size_t)len : NM_TEXT_BYTES_MAX + 1;
    char cut_text[NM_TEXT_BYTES_MAX];
    nm_status status = need(pickle, at_hand, err);

    if (status != NM_OK)
        return status;
    nm_bytes text = {pickle->buffer + pickle->at, at_hand};
    if (len > NM_TEXT_BYTES_MAX) {
        text.len = nm_text_cut(text.data, at_hand, sizeof cut_text, cut_text);
        text.data = (const uint8_t *)cut_text;
    }
    status = nm_strings_intern(pickle->strings, text, number, err);
    return status == NM_OK ? skip(pickle, len, err) : status;
}

/* A text that nobody asks for here may be named again where somebody does: the memo knows it by its number. */
static nm_status op_text(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    uint32_t number = 0;
    nm_status status = check_length(pickle, argument, "a text", err);
    bool is_full = pickle->strings->count >= NM_PICKLE_TEXTS_MAX || pickle->strings->text.len > NM_PICKLE_ALL_TEXT_MAX;

    if (status != NM_OK)
        return status;
    if ((is_full || argument > NM_TEXT_BYTES_MAX) && is_unwanted(pickle)) {
        status = skip(pickle, argument, err);
        return status == NM_OK ? push_tag(pickle, NM_PICKLE_IGNORED, 0, err) : status;
    }
    if (is_full)
        return nm_fail(err, NM_ERR_LIMIT, pickle->op_offset, "more text than a memory snapshot has");

    status = intern_text(pickle, argument, &number, err);
    return status == NM_OK ? push_tag(pickle, NM_PICKLE_TEXT, number, err) : status;
}

static nm_status op_bytes(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    nm_status status = check_length(pickle, argument, "a byte string", err);

    if (status == NM_OK)
        status = skip(pickle, argument, err);
    return status == NM_OK ? push_tag(pickle, NM_PICKLE_IGNORED, 0, err) : status;
}

static nm_status op_empty_list(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return begin_container(pickle, false, err);
}

static nm_status op_empty_dict(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return begin_container(pickle, true, err);
}

/* A set holds nothing of interest. */
static nm_status op_empty_set(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return push_tag(pickle, NM_PICKLE_IGNORED, 0, err);
}

static nm_status op_append(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return fill_last(pickle, 1, false, err);
}

static nm_status op_appends(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return fill_from_mark(pickle, false, err);
}

static nm_status op_setitem(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return fill_last(pickle, 2, true, err);
}

static nm_status op_setitems(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return fill_from_mark(pickle, true, err);
}

static bool is_half(const nm_pickle_cell *cell)
{
    return cell->tag == NM_PICKLE_INT && cell->integer == (int32_t)cell->integer;
}

/* The cells from `from` on become a tuple. */
static nm_status make_tuple(nm_pickle *pickle, size_t from, nm_error *err)
{
    nm_status status = settle(pickle, from, err);
    nm_pickle_cell tuple = {.tag = NM_PICKLE_IGNORED};

    if (status != NM_OK)
        return status;
    if (pickle->cells.count - from == 2) { /* an empty stack has no cells to point to */
        const nm_pickle_cell *cells = &pickle->cells.items[from];

        if (is_half(&cells[0]) && is_half(&cells[1])) {
            tuple.tag = NM_PICKLE_PAIR;
            tuple.pair[0] = (int32_t)cells[0].integer;
            tuple.pair[1] = (int32_t)cells[1].integer;
        }
    }
    pickle->cells.count = from;
    return push(pickle, tuple, err);
}

static nm_status short_tuple(nm_pickle *pickle, size_t cell_count, nm_error *err)
{
    if (pickle->cells.count < floor_of(pickle) + cell_count)
        return fail(pickle, "a tuple takes more values than there are", err);
    return make_tuple(pickle, pickle->cells.count - cell_count, err);
}

static nm_status op_tuple0(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return short_tuple(pickle, 0, err);
}

static nm_status op_tuple1(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return short_tuple(pickle, 1, err);
}

static nm_status op_tuple2(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return short_tuple(pickle, 2, err);
}

static nm_status op_tuple3(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return short_tuple(pickle, 3, err);
}

static nm_status op_tuple(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    size_t from = 0;
    nm_status status = pop_mark(pickle, &from, err);

    (void)argument;
    return status == NM_OK ? make_tuple(pickle, from, err) : status;
}

static nm_status op_frozen_set(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    nm_status status = op_tuple(pickle, argument, err);

    if (status == NM_OK)
        pickle->cells.items[pickle->cells.count - 1] = (nm_pickle_cell){.tag = NM_PICKLE_IGNORED};
    return status;
}

static nm_status op_put(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    uint32_t entry;

    if (pickle->cells.count <= floor_of(pickle))
        return fail(pickle, "there is nothing to remember", err);
    if (argument > pickle->op_offset) /* writers count from 0, and each entry takes two bytes at least */
        return nm_fail(err, NM_ERR_FORMAT, pickle->op_offset, "memo entry %llu is out of range",
                       (unsigned long long)argument);
    if (memo_get(pickle, argument) != CODE_UNSET)
        return nm_fail(err, NM_ERR_FORMAT, pickle->op_offset, "memo entry %llu is set twice",
                       (unsigned long long)argument);

    nm_pickle_cell *cell = &pickle->cells.items[pickle->cells.count - 1];
    if (cell->tag == NM_PICKLE_OPEN) {
        open_container *open = &pickle->opens.items[cell->integer];
        if (open->memo != NO_MEMO)
            return fail(pickle, "one container has two memo entries", err);
        open->memo = argument;
    }
    nm_status status = encode(pickle, cell, &entry, err);
    if (status == NM_OK)
        status = memo_set(pickle, argument, entry, err);
    pickle->memo_count++;
    return status;
}

static nm_status op_memoize(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    (void)argument;
    return op_put(pickle, pickle->memo_count, err);
}

/* A reference to a container under way is sound only if that one is complete, which nothing has shown yet. */
static nm_status finish_referred(nm_pickle *pickle, uint32_t entry, nm_error *err)
{
    place here = place_now(pickle);

    if (entry >> CODE_BITS != pickle->opens.count - 1 || here.has_mark)
        return fail(pickle, "refers to a container that is not complete", err);
    return here.index == 0 && here.open->is_dict ? finish_top_dict(pickle, err) : finish_last(pickle, err);
}

static nm_status op_get(nm_pickle *pickle, uint64_t argument, nm_error *err)
{
    uint32_t entry = memo_get(pickle, argument);
    nm_status status = NM_OK;

    if (entry == CODE_UNSET)
        return nm_fail(err, NM_ERR_FORMAT, pickle->op_offset, "memo entry %llu was never set",
                       (unsigned long long)argument);
    if ((entry & ((1u << CODE_BITS) - 1)) == CODE_OPEN) {
        status = finish_referred(pickle, entry, err);
        entry = memo_get(pickle, argument);
    }
    return status == NM_OK ? push(pickle, decode(pickle, entry), err) : status;
}

/* ---- Dispatch ---------------------------------------------------------------------------------------------------- */

#define NAMES_A_CLASS "would name a class"
#define CALLS         "would call code"
#define REFERS_OUT    "refers to something outside the file"
#define DOES_NOT      "does not occur in a memory snapshot"

typedef struct opcode {
    const char *name;
    operation *run;         /* NULL: refused, for the reason in `refusal` */
    uint8_t argument_bytes; /* 0 to 8, lowest first; a length where text, bytes or a number follow */
    const char *refusal;
} opcode;

static const opcode opcodes[256] = {
    ['('] = {"MARK", op_mark, 0, NULL},
    ['.'] = {"STOP", op_stop, 0, NULL},
    ['0'] = {"POP", NULL, 0, DOES_NOT},
    ['1'] = {"POP_MARK", NULL, 0, DOES_NOT},
    ['2'] = {"DUP", NULL, 0, DOES_NOT},
    ['B'] = {"BINBYTES", op_bytes, 4, NULL},
    ['C'] = {"SHORT_BINBYTES", op_bytes, 1, NULL},
    ['F'] = {"FLOAT", NULL, 0, DOES_NOT},
    ['G'] = {"BINFLOAT", op_float, 8, NULL},
    ['I'] = {"INT", NULL, 0, DOES_NOT},
    ['J'] = {"BININT", op_int32, 4, NULL},
    ['K'] = {"BININT1", op_int, 1, NULL},
    ['L'] = {"LONG", NULL, 0, DOES_NOT},
    ['M'] = {"BININT2", op_int, 2, NULL},
    ['N'] = {"NONE", op_none, 0, NULL},
    ['P'] = {"PERSID", NULL, 0, REFERS_OUT},
    ['Q'] = {"BINPERSID", NULL, 0, REFERS_OUT},
    ['R'] = {"REDUCE", NULL, 0, CALLS},
    ['S'] = {"STRING", NULL, 0, DOES_NOT},
    ['T'] = {"BINSTRING", NULL, 0, DOES_NOT},
    ['U'] = {"SHORT_BINSTRING", NULL, 0, DOES_NOT},
    ['V'] = {"UNICODE", NULL, 0, DOES_NOT},
    ['X'] = {"BINUNICODE", op_text, 4, NULL},
    [')'] = {"EMPTY_TUPLE", op_tuple0, 0, NULL},
    [']'] = {"EMPTY_LIST", op_empty_list, 0, NULL},
    ['a'] = {"APPEND", op_append, 0, NULL},
    ['b'] = {"BUILD", NULL, 0, CALLS},
    ['c'] = {"GLOBAL", NULL, 0, NAMES_A_CLASS},
    ['d'] = {"DICT", NULL, 0, DOES_NOT},
    ['e'] = {"APPENDS", op_appends, 0, NULL},
    ['g'] = {"GET", NULL, 0, DOES_NOT},
    ['h'] = {"BINGET", op_get, 1, NULL},
    ['i'] = {"INST", NULL, 0, NAMES_A_CLASS},
    ['j'] = {"LONG_BINGET", op_get, 4, NULL},
    ['l'] = {"LIST", NULL, 0, DOES_NOT},
    ['o'] = {"OBJ", NULL, 0, CALLS},
    ['p'] = {"PUT", NULL, 0, DOES_NOT},
    ['q'] = {"BINPUT", op_put, 1, NULL},
    ['r'] = {"LONG_BINPUT", op_put, 4, NULL},
    ['s'] = {"SETITEM", op_setitem, 0, NULL},
    ['t'] = {"TUPLE", op_tuple, 0, NULL},
    ['u'] = {"SETITEMS", op_setitems, 0, NULL},
    ['}'] = {"EMPTY_DICT", op_empty_dict, 0, NULL},
    [0x80] = {"PROTO", op_proto, 1, NULL},
    [0x81] = {"NEWOBJ", NULL, 0, CALLS},
    [0x82] = {"EXT1", NULL, 0, NAMES_A_CLASS},
    [0x83] = {"EXT2", NULL, 0, NAMES_A_CLASS},
    [0x84] = {"EXT4", NULL, 0, NAMES_A_CLASS},
    [0x85] = {"TUPLE1", op_tuple1, 0, NULL},
    [0x86] = {"TUPLE2", op_tuple2, 0, NULL},
    [0x87] = {"TUPLE3", op_tuple3, 0, NULL},
    [0x88] = {"NEWTRUE", op_true, 0, NULL},
    [0x89] = {"NEWFALSE", op_false, 0, NULL},
    [0x8a] = {"LONG1", op_long, 1, NULL},
    [0x8b] = {"LONG4", op_long, 4, NULL},
    [0x8c] = {"SHORT_BINUNICODE", op_text, 1, NULL},
    [0x8d] = {"BINUNICODE8", op_text, 8, NULL},
    [0x8e] = {"BINBYTES8", op_bytes, 8, NULL},
    [0x8f] = {"EMPTY_SET", op_empty_set, 0, NULL},
    [0x90] = {"ADDITEMS", op_appends, 0, NULL},
    [0x91] = {"FROZENSET", op_frozen_set, 0, NULL},
    [0x92] = {"NEWOBJ_EX", NULL, 0, CALLS},
    [0x93] = {"STACK_GLOBAL", NULL, 0, NAMES_A_CLASS},
    [0x94] = {"MEMOIZE", op_memoize, 0, NULL},
    [0x95] = {"FRAME", op_frame, 8, NULL},
    [0x96] = {"BYTEARRAY8", op_bytes, 8, NULL},
    [0x97] = {"NEXT_BUFFER", NULL, 0, REFERS_OUT},
    [0x98] = {"READONLY_BUFFER", NULL, 0, REFERS_OUT},
};

static nm_status refuse(const nm_pickle *pickle, const opcode *op, uint8_t byte, nm_error *err)
{
    if (op->name == NULL)
        return nm_fail(err, NM_ERR_FORMAT, pickle->op_offset, "0x%02x is no pickle opcode", byte);
    return nm_fail(err, NM_ERR_FORMAT, pickle->op_offset, "opcode %s %s: refused", op->name, op->refusal);
}

/* The number behind an opcode: `argument_bytes` of those at `bytes`, lowest first, of which eight can be read. */
static inline uint64_t argument_at(const uint8_t *bytes, uint8_t argument_bytes)
{
    uint64_t word = nm_get_u64(bytes);

    return argument_bytes == 8 ? word : word & ((UINT64_C(1) << 8 * argument_bytes) - 1);
}

/* The same near the end of what is in the buffer. */
static nm_status read_argument(nm_pickle *pickle, uint8_t argument_bytes, uint64_t *argument, nm_error *err)
{
    uint8_t bytes[8] = {0};
    nm_status status = need(pickle, 1 + (size_t)argument_bytes, err);

    if (status != NM_OK)
        return status;
    memcpy(bytes, pickle->buffer + pickle->at + 1, argument_bytes);
    *argument = argument_at(bytes, argument_bytes);
    return NM_OK;
}

nm_status nm_pickle_step(nm_pickle *pickle, nm_error *err)
{
    uint64_t argument = 0;
    nm_status status = NM_OK;

    pickle->op_offset = input_offset(pickle);
    if (pickle->at == pickle->filled)
        status = refill(pickle, 1, err);
    if (status != NM_OK)
        return status;

    const uint8_t *byte = pickle->buffer + pickle->at;
    const opcode *op = &opcodes[*byte];
    if (op->run == NULL)
        return refuse(pickle, op, *byte, err);
    if (pickle->filled - pickle->at > 8)
        argument = argument_at(byte + 1, op->argument_bytes);
    else
        status = read_argument(pickle, op->argument_bytes, &argument, err);
    if (status != NM_OK)
        return status;
    pickle->at += 1u + op->argument_bytes;
    return op->run(pickle, argument, err);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

nm_status nm_pickle_new(int fd, uint64_t size_bytes, const nm_pickle_handler *handler, nm_strings *strings,
                        uint32_t known_count, nm_pickle **out, nm_error *err)
{
    nm_pickle *pickle = calloc(1, sizeof *pickle);

    *out = NULL;
    if (pickle != NULL)
        pickle->buffer = malloc(BUFFER_BYTES);
    if (pickle == NULL || pickle->buffer == NULL) {
        nm_pickle_free(pickle);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a buffer of %u bytes", BUFFER_BYTES);
    }
    pickle->fd = fd;
    pickle->size_bytes = size_bytes;
    pickle->handler = *handler;
    pickle->strings = strings;
    pickle->known_count = known_count;
    if (lseek(fd, 0, SEEK_SET) != 0) {
        int lseek_errno = errno;
        nm_pickle_free(pickle);
        return nm_fail_errno(err, lseek_errno, "cannot go back to the start");
    }
    *out = pickle;
    return NM_OK;
}

void nm_pickle_free(nm_pickle *pickle)
{
    if (pickle == NULL)
        return;
    for (size_t i = 0; i < pickle->pages.count; i++)
        if (pickle->pages.items[i] != pickle->ignored_page)
            free(pickle->pages.items[i]);
    free(pickle->ignored_page);
    free(pickle->pages.items);
    free(pickle->cells.items);
    free(pickle->marks.items);
    free(pickle->opens.items);
    free(pickle->numbers.items);
    nm_map_free(&pickle->number_of);
    free(pickle->buffer);
    free(pickle);
}

void nm_pickle_sum(nm_pickle *pickle, nm_checksum_run *run)
{
    pickle->sum = run;
}

uint64_t nm_pickle_place(const nm_pickle *pickle)
{
    place here = place_now(pickle);

    return here.open == NULL ? 0 : here.open->given + here.index;
}

uint64_t nm_pickle_offset(const nm_pickle *pickle)
{
    return pickle->op_offset;
}
