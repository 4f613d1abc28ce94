/* SPDX-License-Identifier: Apache-2.0
 *
 * How a function's caller is found, for one place in its code: what compilers write into .eh_frame for exceptions, in eight
 * bytes. The CFA is the caller's stack pointer; FP is rbp or x29, RA the return address.
 */
#ifndef NM_RECORD_UNWIND_RULE_H
#define NM_RECORD_UNWIND_RULE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t nm_unwind_rule;

typedef enum nm_unwind_kind {
    NM_UNWIND_NONE = 0,   /* nothing is known, or nothing that we understand */
    NM_UNWIND_FRAME = 1,  /* CFA = register + offset */
    NM_UNWIND_STORED = 2, /* CFA stands at register + offset: a frame that was aligned anew */
    NM_UNWIND_PLT = 3,    /* CFA = rsp + 8, and 8 more from the offset-th byte of an entry on */
    NM_UNWIND_SIGNAL = 4, /* a handler returns here: the kernel has put all registers on the stack */
    NM_UNWIND_END = 5,    /* nothing called it */
} nm_unwind_kind;

#if defined(__x86_64__)
enum { NM_UNWIND_FP = 6, NM_UNWIND_SP = 7, NM_UNWIND_RA = 16, NM_UNWIND_REGISTERS = 16 };
#else
enum { NM_UNWIND_FP = 29, NM_UNWIND_SP = 31, NM_UNWIND_RA = 30, NM_UNWIND_REGISTERS = 32 };
#endif

/* Bits, from the lowest on: kind 3, register 5, flags 4, RA's place beyond FP's in words 8, FP's place in words 22, the offset
 * of the CFA in bytes / 8, 22; the last three signed. Without FP's place the second is RA's own. */
#define NM_UNWIND_HAS_FP   (UINT64_C(1) << 8) /* FP was saved at CFA + its place */
#define NM_UNWIND_FP_BY_FP (UINT64_C(1) << 9) /* at FP + its place */
#define NM_UNWIND_HAS_RA                                                                                               \
    (UINT64_C(1) << 10) /* RA was saved; else it is in its register. On x86-64 always, below the CFA */
#define NM_UNWIND_IS_CALL (UINT64_C(1) << 11) /* a call is known to stand before this place */

static inline nm_unwind_kind nm_unwind_kind_of(nm_unwind_rule rule)
{
    return (nm_unwind_kind)(rule & 7);
}

static inline unsigned nm_unwind_register_of(nm_unwind_rule rule)
{
    return (unsigned)(rule >> 3) & 31;
}

/* In bytes. */
static inline int64_t nm_unwind_cfa_offset(nm_unwind_rule rule)
{
    return ((int64_t)rule >> 42) * 8;
}

static inline int64_t nm_unwind_fp_offset(nm_unwind_rule rule)
{
    return ((int64_t)(rule << 22) >> 42) * 8;
}

static inline int64_t nm_unwind_ra_offset(nm_unwind_rule rule)
{
    return nm_unwind_fp_offset(rule) + ((int64_t)(rule << 44) >> 56) * 8;
}

/* A file as it is mapped. */
typedef struct nm_unwind_image {
    uintptr_t begin, end; /* what of it can be read */
    uintptr_t index;      /* .eh_frame_hdr; 0: there is none */
    uintptr_t index_bytes;
} nm_unwind_image;

/* The rule for the instruction at `pc`. Reads within the image alone, whatever stands there. */
nm_unwind_rule nm_unwind_describe(const nm_unwind_image *image, uintptr_t pc);

/* Where the index of an image lies: `head` is what stands at offset 0 of its file, mapped at `base`. 0: nowhere within it. */
uintptr_t nm_unwind_find_index(const nm_unwind_image *image, const uint8_t *head, uintptr_t head_bytes, uintptr_t base,
                               uintptr_t *index_bytes);

#endif
