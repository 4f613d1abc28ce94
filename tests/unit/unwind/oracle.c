/* SPDX-License-Identifier: Apache-2.0
 *
 * A look: the recorder's walk, and what the others say of the same frame. Then its number, twice, so that the second one comes out of
 * what the thread remembers; a number stands for one stack and no other. Frames are kept as a sum, which is this file's own.
 */
#include "oracle.h"

#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "npumem.h"
#include "record/attach.h"
#include "record/modules.h"
#include "record/session.h"
#include "record/stack.h"
#include "record/unwind.h"
#include "ring_reader.h"
#include "support/emulated.h"

#define IDS_MAX  (1u << 20)
#define CUT_RARE 5000

typedef struct other_stack {
    unsigned count;
    uintptr_t addresses[ORACLE_FRAMES_MAX + 1];
} other_stack;

typedef int by_libunwind(void **addresses, int count);
typedef _Unwind_Reason_Code by_libgcc(_Unwind_Trace_Fn take, void *context);
typedef const void *function_of(void *pc, void *bases[3]);

oracle_facts oracle_seen;

static by_libunwind *libunwind; /* NULL: not installed */
static by_libgcc *libgcc;
static function_of *find_function; /* of libgcc's */
static session_fixture fixture;
static ring_reader reading;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread uint64_t *sums; /* by number; 0: not given yet */
static __thread volatile bool is_looking;

/* Each by its own name: libunwind has functions of libgcc's names, too. */
static void find_others(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL), *symbol;

    ck_assert_msg(library != NULL, "%s", dlerror());
    symbol = dlsym(library, "_Unwind_Backtrace");
    memcpy(&libgcc, &symbol, sizeof libgcc);
    symbol = dlsym(library, "_Unwind_Find_FDE");
    memcpy(&find_function, &symbol, sizeof find_function);
    library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    symbol = library == NULL ? NULL : dlsym(library, "unw_backtrace");
    memcpy(&libunwind, &symbol, sizeof libunwind);
    if (libunwind == NULL)
        fprintf(stderr, "skipped: stacks beside libunwind, which is not installed (libunwind8)\n");
}

void oracle_begin(void)
{
    find_others();
    session_open(&fixture);
    fixture.session->stack_mode = NM_STACKS_NATIVE;
    fixture.session->stack_depth = ORACLE_FRAMES_MAX;
    fixture.session->ring_bytes = 1 << 20;
    reader_open(&reading, &fixture);
    unsetenv("NPUMEM_UNWIND");
    ck_assert(nm_session_join(fixture.folder));
    memset(&oracle_seen, 0, sizeof oracle_seen);
    free(sums);
    sums = NULL;
}

void oracle_end(void)
{
    nm_state_leave();
    reader_close(&reading);
    session_close(&fixture);
}

static void pass(void *context, const reader_record *record)
{
    (void)context, (void)record;
}

/* ---- The others ---------------------------------------------------------------------------------------------------- */

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *out)
{
    other_stack *stack = out;
    uintptr_t address = _Unwind_GetIP(context);

    if (stack->count > ORACLE_FRAMES_MAX || address == 0)
        return _URC_END_OF_STACK;
    stack->addresses[stack->count++] = address;
    return _URC_NO_REASON;
}

/* On aarch64 the linker's stubs are no functions: others end where one was interrupted. */
static bool ends_in_stub(const other_stack *other)
{
    void *bases[3];

    return find_function((void *)other->addresses[other->count - 1], bases) == NULL;
}

/* The first of each is the look itself. */
static void compare(const char *whose, const other_stack *other, const nm_unwind *walk)
{
    unsigned expected = other->count - 1 < ORACLE_FRAMES_MAX ? other->count - 1 : ORACLE_FRAMES_MAX, at = 0;

    while (at < expected && at < walk->count && other->addresses[at + 1] == walk->addresses[at])
        at++;
    if (at == expected && at == walk->count)
        return;
    if (at == walk->count && walk->is_cut) /* counted as that */
        return;
    if (at == expected && ends_in_stub(other)) {
        oracle_seen.stub_count++;
        return;
    }
    if (oracle_seen.different_count++ == 0)
        snprintf(oracle_seen.first, sizeof oracle_seen.first,
                 "%s has %u frames, the walk %u (cut %d); at %u %#lx, not %#lx, behind %#lx", whose, expected,
                 walk->count, walk->is_cut, at, at < expected ? (unsigned long)other->addresses[at + 1] : 0,
                 at < walk->count ? (unsigned long)walk->addresses[at] : 0,
                 at > 0 ? (unsigned long)walk->addresses[at - 1] : 0);
}

/* ---- Numbers ------------------------------------------------------------------------------------------------------- */

static uint64_t sum_of(const nm_unwind *walk)
{
    uint64_t sum = 14695981039346656037u;

    for (unsigned i = 0; i < walk->count; i++) {
        for (unsigned byte = 0; byte < 8; byte++)
            sum = (sum ^ (walk->addresses[i] >> (8 * byte) & 255)) * 1099511628211u;
    }
    return sum | 1;
}

static void check_number(uint32_t id, uint32_t again, uint64_t sum)
{
    oracle_seen.known_count += sums[id] != 0;
    oracle_seen.number_count += id == 0 || id != again || (sums[id] != 0 && sums[id] != sum);
    sums[id] = sum;
}

/* ---- A look -------------------------------------------------------------------------------------------------------- */

/* Inlined into a look, so that its frame is the hook's. */
static inline __attribute__((always_inline)) void look_from(uintptr_t frame)
{
    static __thread other_stack other;
    static __thread uint64_t addresses[ORACLE_FRAMES_MAX];
    nm_recorded_thread *thread = nm_attach_thread();
    nm_unwind walk = {.frame = frame, .limit = ORACLE_FRAMES_MAX, .may_describe = true, .addresses = addresses};
    uint32_t id, again;
    uint64_t generation;

    nm_unwind_walk(thread, &walk);
    other.count = 0;
    libgcc(take, &other);
    pthread_mutex_lock(&lock);
    compare("libgcc", &other, &walk);
    if (libunwind != NULL) {
        int got = libunwind((void **)other.addresses, ORACLE_FRAMES_MAX + 1);

        other.count = got < 0 ? 0 : (unsigned)got;
        compare("libunwind", &other, &walk);
    }
    generation = nm_modules_generation();
    id = nm_stack_number(thread, (const void *)frame);
    again = nm_stack_number(thread, (const void *)frame);
    if (generation != nm_modules_generation()) /* then it is described anew */
        again = id;
    reader_poll(&reading, pass, NULL); /* makes room */
    if (sums == NULL)
        sums = calloc(IDS_MAX, sizeof *sums);
    if (!walk.is_cut)
        check_number(id % IDS_MAX, again % IDS_MAX, sum_of(&walk));
    oracle_seen.stack_count++;
    oracle_seen.frame_count += walk.count;
    oracle_seen.cut_count += walk.is_cut;
    oracle_seen.deepest = walk.count > oracle_seen.deepest ? walk.count : oracle_seen.deepest;
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) void oracle_look(void)
{
    if (is_looking)
        return;
    is_looking = true;
    look_from((uintptr_t)__builtin_frame_address(0));
    is_looking = false;
}

__attribute__((noinline)) unsigned oracle_walk(uintptr_t *addresses, bool *is_cut)
{
    nm_unwind walk = {.frame = (uintptr_t)__builtin_frame_address(0),
                      .limit = ORACLE_FRAMES_MAX,
                      .may_describe = true,
                      .addresses = (uint64_t *)addresses};

    nm_unwind_walk(nm_attach_thread(), &walk);
    *is_cut = walk.is_cut;
    return walk.count;
}

void oracle_check(size_t stack_count_min)
{
    ck_assert_msg(oracle_seen.different_count == 0, "%zu of %zu stacks differ: %s", oracle_seen.different_count,
                  oracle_seen.stack_count, oracle_seen.first);
    ck_assert_uint_ge(oracle_seen.stack_count, stack_count_min);
#if defined(__x86_64__)
    ck_assert_uint_eq(oracle_seen.stub_count, 0);
#endif
    /* Under an emulator it was seen once in some 100,000 on a busy machine, of threads with stacks of their own. */
    ck_assert_msg(oracle_seen.cut_count <= (is_emulated() ? oracle_seen.stack_count / CUT_RARE : 0),
                  "%zu of %zu are cut", oracle_seen.cut_count, oracle_seen.stack_count);
    ck_assert_uint_eq(oracle_seen.number_count, 0);
    fprintf(stderr, "%zu stacks of %zu frames compared with %s, deepest %zu, %zu known by number\n",
            oracle_seen.stack_count, oracle_seen.frame_count, libunwind != NULL ? "libunwind and libgcc" : "libgcc",
            oracle_seen.deepest, oracle_seen.known_count);
}
