/* SPDX-License-Identifier: Apache-2.0
 *
 * A walk of the calling thread's stack by what compilers write for exceptions (.eh_frame), so also through code without frame
 * pointers, out of signal handlers and off stacks of the program's own. The rule for a place in the code is found once
 * (unwind_rule.h) and kept for the process (unwind_cache.h). A place without one, as code has that was made at run time, is left by one
 * step along the frame pointer, if that leads up to what follows a call.
 *
 * No lock, no heap, no function of libc but memcpy; nothing is read but the thread's own stack and, within what is mapped of
 * it, a module that one of the thread's frames returns into.
 */
#ifndef NM_RECORD_UNWIND_H
#define NM_RECORD_UNWIND_H

#include "record/memo.h"
#include "record/thread_state.h"
#include "record/unwind_rule.h"

typedef struct nm_unwind {
    /* Set by the caller. */
    uintptr_t frame;      /* __builtin_frame_address(0) of the function that the program called */
    unsigned limit;       /* of frames, 1 at least */
    bool is_above_python; /* it ends at the interpreter's own code */
    bool may_describe;    /* new places may be looked up: not from a handler that interrupted that in the same thread */
    uint64_t *addresses;  /* room for `limit`; NULL: the hash alone is wanted */

    /* What comes out. */
    unsigned count;
    uint64_t hash;       /* of the addresses, and of how it ended; not 0 */
    bool is_cut;         /* it ended where a caller must be, and could not be found */
    bool is_whole;       /* it ended where nothing called; neither: at the limit, or at the interpreter */
    bool is_certain;     /* the next one would be the same */
    uint64_t generation; /* of the modules: what it is true for */

    /* For the memo. */
    bool is_memoable;
    unsigned place_count;
    uint64_t place_sum;
    uint16_t *places; /* room for NM_MEMO_PLACES_MAX, set by the caller; NULL: nothing is to be remembered */
} nm_unwind;

void nm_unwind_walk(nm_recorded_thread *thread, nm_unwind *walk);

/* Terms of a sum, so that the multiplications of a deep stack overlap; `salt` makes the place of an address count. */
static inline uint64_t nm_unwind_hash_term(uint64_t address, uint64_t salt)
{
    uint64_t term = (address + salt) * UINT64_C(0x9e3779b97f4a7c15);

    term ^= term >> 32;
    return term * UINT64_C(0xd6e8feb86659fd93);
}

#define NM_UNWIND_NEXT_SALT UINT64_C(0xa0761d6478bd642f)

#endif
