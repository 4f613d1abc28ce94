/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for the frames of a trace that have none, or no line, from somebody who has the symbols. Modules are told apart by
 * their build id: the same path may be another file on another day.
 */
#ifndef NM_SITES_FRAME_NAMES_H
#define NM_SITES_FRAME_NAMES_H

#include "sites/definitions.h"

typedef struct nm_frame_place {
    nm_bytes function, file; /* empty: unknown */
    uint64_t line;           /* 0: unknown */
} nm_frame_place;

typedef struct nm_frame_question { /* about places in one module; borrowed during the call */
    nm_bytes path;                 /* one of those that the module was recorded under */
    nm_bytes build_id;             /* never empty */
    const uint64_t *offsets;       /* ascending */
    size_t count;
} nm_frame_question;

typedef struct nm_frame_answers nm_frame_answers;

typedef struct nm_frame_namer {
    void *context;
    /* Calls nm_frame_answers_put for the places that it knows. Not to know any is no failure. */
    nm_status (*ask)(void *context, const nm_frame_question *question, nm_frame_answers *answers, nm_error *err);
} nm_frame_namer;

/* The place at offsets[index]: the innermost inlined function first, then each that it was inlined into. */
nm_status nm_frame_answers_put(nm_frame_answers *answers, size_t index, const nm_frame_place *places, size_t count,
                               nm_error *err);

typedef struct nm_frame_name_counts {
    uint64_t named_frames;   /* by the namer */
    uint64_t unnamed_frames; /* that still have no function */
    uint64_t unnamed_modules;
} nm_frame_name_counts;

/* Asks the namer (NULL: nobody) once for each module with frames that lack a function or a file. The definitions are
 * sorted, and stay so. */
nm_status nm_frame_names_find(nm_definitions *definitions, const nm_frame_namer *namer, nm_frame_name_counts *out,
                              nm_error *err);

#endif
