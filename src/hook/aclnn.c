/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in front of second stages; see operators.h. A thunk puts its number into the register of a fifth argument, which
 * no second stage has, and jumps to nm_operator_run: so the caller's return address is the one that native stacks, the
 * debugger and the unwinder of exceptions see.
 *
 * The number is a place in a table of (name, function), which is filled by compare-and-swap and never emptied. No guard is
 * held while the operator runs: what it does for itself is recorded, and by its thread and time belongs to its range.
 */
#include "hook/operators.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "hook/arena.h"
#include "record/record.h"

#define THUNK_BYTES    16
#define UNWOUND        (-1) /* error code of an operator that was left by an exception or by the end of its thread */
#define HIDDEN         __attribute__((visibility("hidden")))
#define TEXT_OF(value) #value
#define TEXT(value)    TEXT_OF(value)

/* All 64 bits of what comes back are handed on. */
typedef int64_t second_stage(void *workspace, uint64_t workspace_bytes, void *executor, void *stream);

typedef struct nm_operator {
    const char *name; /* kept */
    second_stage *function;
} nm_operator;

HIDDEN extern const char nm_operator_thunks[];
HIDDEN int64_t nm_operator_run(void *workspace, uint64_t workspace_bytes, void *executor, void *stream, uint32_t place);
HIDDEN int nm_operator_unwound(int version, int actions, uint64_t class, const void *exception, const void *context);

static const nm_operator *_Atomic operators[NM_OPERATOR_COUNT_MAX];
static _Atomic uint32_t unseen_count; /* operators that got no thunk */
static const char *_Atomic first_unseen;

/* ---- Thunks: each begins where an indirect call may land (endbr64, bti c) ------------------------------------------ */

#define THUNK_COUNT TEXT(NM_OPERATOR_COUNT_MAX)
#define THUNK_ALIGN TEXT(THUNK_BYTES)
#if defined(__x86_64__)
#define THUNK_CODE " endbr64\n movl $nm_thunk_place, %r8d\n jmp nm_operator_run\n"
#else
#define THUNK_CODE " hint #34\n movz w4, #nm_thunk_place\n b nm_operator_run\n"
#endif

__asm__(".pushsection .text.nm_operator_thunks, \"ax\", %progbits\n"
        ".balign 64\n"
        ".globl nm_operator_thunks\n"
        ".hidden nm_operator_thunks\n"
        ".type nm_operator_thunks, %function\n"
        "nm_operator_thunks:\n"
        ".cfi_startproc\n" /* nothing is pushed: one entry that says so serves all */
        ".set nm_thunk_place, 0\n"
        ".rept " THUNK_COUNT "\n"
        ".balign " THUNK_ALIGN "\n" THUNK_CODE ".set nm_thunk_place, nm_thunk_place + 1\n"
        ".endr\n"
        ".cfi_endproc\n"
        ".size nm_operator_thunks, . - nm_operator_thunks\n"
        ".popsection\n");

/* ---- Calls --------------------------------------------------------------------------------------------------------- */

__attribute__((noinline)) int64_t nm_operator_run(void *workspace, uint64_t workspace_bytes, void *executor,
                                                  void *stream, uint32_t place)
{
    /* acquire: pairs with the release in nm_operator_wrap; the thunk was given out after it. */
    const nm_operator *called = atomic_load_explicit(&operators[place], memory_order_acquire);
    nm_ring_range event = {
        .detail = NM_RANGE_OPERATOR,
        .flags = NM_FLAG_STREAM,
        .stream = (uint64_t)(uintptr_t)stream,
        .address = (uint64_t)(uintptr_t)workspace,
        .requested_bytes = workspace_bytes,
    };
    uint64_t range = nm_record_range_begin(&event, called->name);
    int64_t result;

    /* Whoever unwinds this frame calls nm_operator_unwound (0x1b: four bytes, from here). The compiler's own way to do so
     * would need a library beside libc. */
    __asm__ volatile(".cfi_personality 0x1b, nm_operator_unwound");
    result = called->function(workspace, workspace_bytes, executor, stream);
    nm_record_range_end(range, (int32_t)result);
    return result;
}

/* A personality routine as the processors' ABIs have it, for a frame that catches nothing: ends the range while the frame
 * is taken off. Which one that is stands in the frame, so the end names the thread's innermost. */
__attribute__((used)) int nm_operator_unwound(int version, int actions, uint64_t class, const void *exception,
                                              const void *context)
{
    enum { CLEANUP_PHASE = 2, CONTINUE_UNWIND = 8 };

    (void)version, (void)class, (void)exception, (void)context;
    if ((actions & CLEANUP_PHASE) != 0)
        nm_record_number(NM_EVENT_RANGE_END, &(nm_ring_number){.error_code = UNWOUND}, NULL);
    return CONTINUE_UNWIND;
}

/* ---- Names --------------------------------------------------------------------------------------------------------- */

static void *thunk_of(uint32_t place)
{
    return (void *)(uintptr_t)(nm_operator_thunks + (size_t)place * THUNK_BYTES);
}

static bool is_thunk(const void *function)
{
    return (uintptr_t)function - (uintptr_t)nm_operator_thunks < (uintptr_t)NM_OPERATOR_COUNT_MAX * THUNK_BYTES;
}

/* The first is noted at once, since the process may be killed; how many more there were, when it ends. */
static void note_unseen(const char *name)
{
    /* relaxed: a count. */
    if (atomic_fetch_add_explicit(&unseen_count, 1, memory_order_relaxed) != 0)
        return;
    atomic_store_explicit(&first_unseen, nm_arena_intern(name),
                          memory_order_release); /* pairs with the acquire below */
    nm_record_note(NM_NOTE_UNSEEN_OPERATOR, 0, name);
}

__attribute__((destructor)) static void note_unseen_count(void)
{
    uint32_t count = atomic_load_explicit(&unseen_count, memory_order_relaxed); /* relaxed: a count */

    if (count > 1) /* acquire: pairs with the release above */
        nm_record_note(NM_NOTE_UNSEEN_OPERATOR, count - 1, atomic_load_explicit(&first_unseen, memory_order_acquire));
}

static uint32_t first_place(const nm_operator *wanted)
{
    uint64_t mixed =
        ((uint64_t)(uintptr_t)wanted->name ^ (uint64_t)(uintptr_t)wanted->function << 1) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)((mixed >> 32) % NM_OPERATOR_COUNT_MAX);
}

/* The operator's place, or the first free one on its way. NM_OPERATOR_COUNT_MAX: neither. */
static uint32_t find_place(const nm_operator *wanted, const nm_operator **found)
{
    uint32_t place = first_place(wanted);

    for (uint32_t i = 0; i < NM_OPERATOR_COUNT_MAX; i++) {
        /* acquire: pairs with the release in nm_operator_wrap. */
        *found = atomic_load_explicit(&operators[place], memory_order_acquire);
        if (*found == NULL || ((*found)->name == wanted->name && (*found)->function == wanted->function))
            return place;
        place = (place + 1) % NM_OPERATOR_COUNT_MAX;
    }
    return NM_OPERATOR_COUNT_MAX;
}

void *nm_operator_wrap(const char *name, void *function)
{
    nm_operator wanted = {.function = (second_stage *)function};
    nm_operator *made = NULL;

    if (is_thunk(function))
        return function;
    wanted.name = nm_arena_intern(name);
    for (;;) {
        const nm_operator *found = NULL;
        uint32_t place = wanted.name != NULL ? find_place(&wanted, &found) : NM_OPERATOR_COUNT_MAX;

        if (found != NULL && place < NM_OPERATOR_COUNT_MAX)
            return thunk_of(place);
        if (place < NM_OPERATOR_COUNT_MAX && made == NULL)
            made = nm_arena_allocate(sizeof *made);
        if (place == NM_OPERATOR_COUNT_MAX || made == NULL)
            break;
        *made = wanted;
        /* release: whoever finds the operator sees what it is. A place that was lost is looked at again. */
        if (atomic_compare_exchange_strong_explicit(&operators[place], &found, made, memory_order_release,
                                                    memory_order_relaxed))
            return thunk_of(place);
    }
    note_unseen(name);
    return NULL;
}
