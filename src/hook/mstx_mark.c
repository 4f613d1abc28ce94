/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks and ranges. What they become:
 *
 *     a range "step start"                                 a step, for all threads; its end means nothing
 *     a mark "step", "step start", "step N", "step=N",
 *     "step:N" (blanks around the sign allowed)            a step; N is its number, else one more than the last had
 *     marks "memscope-aten-b: name=X", "...-e: name=X"     begin and end of operator X of the thread (hooks of msMemScope)
 *     other marks "memscope-aten-...", one per tensor      nothing
 *     a range of the domain "npumem.category"              a category: what its thread allocates in it is what it says
 *     a range of the domain "npumem.module"                the forward of a module, whose path it says
 *     any other mark, any other range                      a mark, a range of the thread that began it
 *
 * The program gets the next tool's number for a range when there is one, else ours; they are told apart by the mark in the
 * highest bits of ours, and such a range ends for the next tool with 0, which it had given.
 */
#include <stdatomic.h>
#include <string.h>

#include "hook/current_device.h"
#include "hook/device_memory.h"
#include "hook/handles.h"
#include "hook/mstx.h"
#include "record/record.h"

#define STEP_RANGE      "step start"
#define OPERATOR_PREFIX "memscope-aten-"
#define OPERATOR_BEGIN  "b: name="
#define OPERATOR_END    "e: name="

#define NUMBER_BITS     48
#define NUMBER_MASK     ((UINT64_C(1) << NUMBER_BITS) - 1)

/* In the highest bits of a range's number, where the numbers of other ranges of the process have none of these. */
enum {
    TAG_OURS = 0x4e51,   /* ours, also in the program's hands */
    TAG_STEP = 0x4e52,   /* of a step, which has no end */
    TAG_CORE = 0x4e53,   /* the next tool's, outside domains */
    TAG_DOMAIN = 0x4e54, /* and in domains */
    TAG_OPERATOR = 0x4e55,
};

static uint64_t tagged(uint64_t tag, uint64_t number)
{
    return tag << NUMBER_BITS | (number & NUMBER_MASK);
}

static uint64_t new_number(uint64_t tag)
{
    static _Atomic uint64_t last;

    /* relaxed: a number of its own is all that is wanted. */
    return tagged(tag, atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1);
}

/* ---- Steps --------------------------------------------------------------------------------------------------------- */

static _Atomic int64_t last_step;

static void tell_step(int64_t number)
{
    nm_record_number(NM_EVENT_STEP, &(nm_ring_number){.number = number}, NULL);
    nm_device_memory_sample(nm_current_device());
}

static void tell_next_step(void)
{
    tell_step(atomic_fetch_add_explicit(&last_step, 1, memory_order_relaxed) + 1); /* relaxed: a number */
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

/* Behind "step": a sign and a number up to the end. */
static bool read_step_number(const char *at, int64_t *number)
{
    const char *sign = skip_blanks(at);
    const char *digit = sign;
    int digit_count = 0;

    if (*sign == '=' || *sign == ':')
        digit = skip_blanks(sign + 1);
    if (digit == at)
        return false;
    for (*number = 0; *digit >= '0' && *digit <= '9' && digit_count < 18; digit++, digit_count++)
        *number = *number * 10 + (*digit - '0');
    return digit_count > 0 && *digit == 0;
}

/* Tells a step if the mark is one. */
static bool is_step(const char *message)
{
    int64_t number;

    if (strncmp(message, "step", 4) != 0)
        return false;
    if (message[4] == 0 || strcmp(message, STEP_RANGE) == 0) {
        tell_next_step();
        return true;
    }
    if (!read_step_number(message + 4, &number))
        return false;
    atomic_store_explicit(&last_step, number, memory_order_relaxed); /* relaxed: a number */
    tell_step(number);
    return true;
}

/* ---- Operators of msMemScope's hooks ------------------------------------------------------------------------------- */

/* The same in a begin and its end: of thread and name, and of how many of the name are open in the thread. */
static uint64_t hash_operator(const char *name)
{
    uint64_t hash = (uint64_t)(uintptr_t)__builtin_thread_pointer();

    for (; *name != 0; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ hash >> 32) & NUMBER_MASK;
}

static uint64_t operator_number(uint64_t hash, uint64_t depth)
{
    return tagged(TAG_OPERATOR, hash + depth * UINT64_C(0x9e3779b97f4a7c15));
}

static void begin_operator(const char *name)
{
    uint64_t hash = hash_operator(name), depth = nm_handles_get(NM_HANDLE_MARKED, hash);

    nm_handles_set(NM_HANDLE_MARKED, hash, depth + 1);
    nm_record_range_begin(
        &(nm_ring_range){.number = (int64_t)operator_number(hash, depth), .detail = NM_RANGE_OPERATOR}, name);
}

static void end_operator(const char *name)
{
    uint64_t hash = hash_operator(name), depth = nm_handles_get(NM_HANDLE_MARKED, hash);

    if (depth == 0) /* begun before the recording */
        return;
    nm_handles_set(NM_HANDLE_MARKED, hash, depth - 1);
    nm_record_range_end(operator_number(hash, depth - 1), 0);
}

/* `text`: behind the prefix. */
static void tell_operator(const char *text)
{
    if (strncmp(text, OPERATOR_BEGIN, sizeof OPERATOR_BEGIN - 1) == 0)
        begin_operator(text + sizeof OPERATOR_BEGIN - 1);
    else if (strncmp(text, OPERATOR_END, sizeof OPERATOR_END - 1) == 0)
        end_operator(text + sizeof OPERATOR_END - 1);
}

/* ---- Marks --------------------------------------------------------------------------------------------------------- */

static void tell_mark(const char *message)
{
    if (message == NULL || !nm_record_is_on())
        return;
    if (strncmp(message, OPERATOR_PREFIX, sizeof OPERATOR_PREFIX - 1) == 0)
        tell_operator(message + sizeof OPERATOR_PREFIX - 1);
    else if (!is_step(message)) {
        nm_record_mark(message);
        nm_device_memory_sample(nm_current_device());
    }
}

void nm_mstx_on_mark(const char *message, void *stream)
{
    nm_mstx_mark *next = NM_MSTX_NEXT(mark);

    tell_mark(message);
    if (next != NULL)
        next(message, stream);
}

void nm_mstx_on_domain_mark(void *handle, const char *message, void *stream)
{
    nm_mstx_domain_mark *next = NM_MSTX_NEXT(domain_mark);

    tell_mark(message);
    if (next != NULL)
        next(nm_mstx_next_handle(handle), message, stream);
}

/* ---- Ranges -------------------------------------------------------------------------------------------------------- */

/* A range without a stream is one of the host alone. */
static uint64_t begin_range(nm_range_kind kind, const char *message, void *stream, uint64_t next_number,
                            uint64_t next_tag)
{
    nm_ring_range range = {
        .detail = kind, .flags = stream != NULL ? NM_FLAG_STREAM : 0, .stream = (uint64_t)(uintptr_t)stream};

    if (!nm_record_is_on())
        return next_number;
    if (kind == NM_RANGE_USER && message != NULL && strcmp(message, STEP_RANGE) == 0) {
        tell_next_step();
        return next_number != 0 ? next_number : new_number(TAG_STEP);
    }
    range.number = (int64_t)(next_number != 0 ? tagged(next_tag, next_number) : new_number(TAG_OURS));
    nm_record_range_begin(&range, message);
    return next_number != 0 ? next_number : (uint64_t)range.number;
}

/* Ends it in the recording; the next tool's number for it. */
static uint64_t end_range(uint64_t number, uint64_t next_tag)
{
    uint64_t tag = number >> NUMBER_BITS;

    if (tag == TAG_STEP)
        return 0;
    nm_record_range_end(tag == TAG_OURS || number == 0 ? number : tagged(next_tag, number), 0);
    return tag == TAG_OURS ? 0 : number;
}

uint64_t nm_mstx_on_range_start(const char *message, void *stream)
{
    nm_mstx_range_start *next = NM_MSTX_NEXT(range_start);

    return begin_range(NM_RANGE_USER, message, stream, next != NULL ? next(message, stream) : 0, TAG_CORE);
}

void nm_mstx_on_range_end(uint64_t number)
{
    nm_mstx_range_end *next = NM_MSTX_NEXT(range_end);
    uint64_t next_number = end_range(number, TAG_CORE);

    if (next != NULL)
        next(next_number);
}

uint64_t nm_mstx_on_domain_range_start(void *handle, const char *message, void *stream)
{
    nm_mstx_domain_range_start *next = NM_MSTX_NEXT(domain_range_start);

    const nm_mstx_domain *domain = nm_mstx_domain_of(handle);
    nm_range_kind kind = domain != NULL ? domain->range_kind : NM_RANGE_USER;

    return begin_range(kind, message, stream, next != NULL ? next(nm_mstx_next_handle(handle), message, stream) : 0,
                       TAG_DOMAIN);
}

void nm_mstx_on_domain_range_end(void *handle, uint64_t number)
{
    nm_mstx_domain_range_end *next = NM_MSTX_NEXT(domain_range_end);
    uint64_t next_number = end_range(number, TAG_DOMAIN);

    if (next != NULL)
        next(nm_mstx_next_handle(handle), next_number);
}
