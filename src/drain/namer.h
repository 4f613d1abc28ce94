/* SPDX-License-Identifier: Apache-2.0
 *
 * What the drain asks of whoever knows the names behind addresses. Questions are queued and answered in any order, some
 * time later, so that reading large debug information never holds up the rings.
 */
#ifndef NM_DRAIN_NAMER_H
#define NM_DRAIN_NAMER_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/error.h"

typedef struct nm_namer_question {
    uint64_t ticket; /* comes back in the answer */
    nm_bytes path;   /* of the module, borrowed during the call */
    uint64_t inode, device;
    bool is_module;  /* asks for the module's build id, not for a place in it */
    uint64_t offset; /* of the call in the module */
} nm_namer_question;

typedef struct nm_namer_place {
    nm_bytes function, file; /* empty: unknown */
    uint64_t line;           /* 0: unknown */
} nm_namer_place;

typedef struct nm_namer_answer { /* borrowed until the next poll */
    uint64_t ticket;
    bool is_module;
    const nm_namer_place *places; /* the innermost inlined function, then each that it was inlined into */
    size_t place_count;           /* 0: unknown */
    nm_bytes build_id;
} nm_namer_answer;

typedef struct nm_namer {
    void *context;
    nm_status (*ask)(void *context, const nm_namer_question *question, nm_error *err);
    bool (*poll)(void *context, nm_namer_answer *answer); /* false: none ready */
    size_t (*waiting)(void *context);                     /* questions not answered yet */
} nm_namer;

#endif
