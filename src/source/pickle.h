/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a Python pickle (protocols 2 to 5) as a stream, without building what it describes. Data only: an opcode that
 * would name a class or call something is refused. The caller is told of lists and dictionaries as they begin, fill and
 * end, and says what each one is to it (a role) and what it was worth (a value); that value is all that is kept of it.
 * So the memory used is the distinct texts, the values on the way, and four bytes for each object that the pickle's
 * memo numbers.
 *
 * The pickle machine pushes a container before it says where the container belongs, so the parent and the key are read
 * off the stack beneath it. Where that leaves two readings (is a list after an empty list inside it or beside it?), the
 * caller's roles decide: NM_PICKLE_MISFIT says that such a child cannot stand there. One reading stays a guess: in an
 * ignored dictionary with a single pair, whose value is a container, that container is begun as if its key stood in the
 * dictionary around; it is then dropped with the ignored one.
 *
 *     nm_pickle_new(fd, size_bytes, &handler, &strings, known_count, &pickle, err);
 *     while ((status = nm_pickle_step(pickle, err)) == NM_OK)
 *         ...
 *     nm_pickle_free(pickle);
 */
#ifndef NM_SOURCE_PICKLE_H
#define NM_SOURCE_PICKLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/strings.h"

#define NM_PICKLE_PROTOCOL_MIN 2
#define NM_PICKLE_PROTOCOL_MAX 5
#define NM_PICKLE_TEXTS_MAX    (1u << 24) /* distinct texts kept */
#define NM_PICKLE_ALL_TEXT_MAX (1u << 30) /* bytes of all of them */
#define NM_PICKLE_STACK_MAX    (1u << 18) /* values on the machine's stack */
#define NM_PICKLE_DEPTH_MAX    1000       /* marks, and containers under way */
#define NM_PICKLE_NUMBERS_MAX  (1u << 20) /* distinct tuples and numbers in the memo */
#define NM_PICKLE_VALUE_MAX    (1u << 28) /* a value's number is less */

typedef enum nm_pickle_tag {
    NM_PICKLE_IGNORED = 0, /* of no use to anybody: inside a container with role NM_PICKLE_SKIP, bytes, a mixed tuple */
    NM_PICKLE_NONE,
    NM_PICKLE_BOOL,     /* integer: 0 or 1 */
    NM_PICKLE_INT,      /* integer */
    NM_PICKLE_UNSIGNED, /* integer, to be read as uint64_t: more than INT64_MAX */
    NM_PICKLE_FLOAT,    /* real */
    NM_PICKLE_TEXT,     /* integer: number of the string */
    NM_PICKLE_PAIR,     /* pair: a tuple of two integers of 32 bits */
    NM_PICKLE_VALUE,    /* kind and integer: what nm_pickle_handler.end made of a container */
    NM_PICKLE_TAKEN,    /* a container that the handler has made use of in full */
    NM_PICKLE_OPEN,     /* a container under way; never shown to the handler */
} nm_pickle_tag;

typedef struct nm_pickle_cell {
    uint32_t tag;  /* nm_pickle_tag */
    uint32_t kind; /* VALUE: 0 to 7, the handler's own meaning */
    union {
        int64_t integer;
        double real;
        int32_t pair[2];
    };
} nm_pickle_cell;

enum {                        /* roles with a meaning of their own; the handler's begin at NM_PICKLE_ROLE_FIRST */
       NM_PICKLE_SKIP = 0,    /* nothing in the container is of interest */
       NM_PICKLE_MISFIT = 1,  /* answer of `begin`: such a container cannot stand there */
       NM_PICKLE_OUTSIDE = 2, /* as parent: the container is the whole pickle */
       NM_PICKLE_ROLE_FIRST = 3,
};

/* Key 0 in these means: not a key whose text is kept. An error ends the reading. */
typedef struct nm_pickle_handler {
    void *context;
    /* A container begins in one of role `parent`, in a dictionary under `key`. Returns its role. */
    uint32_t (*begin)(void *context, uint32_t parent, uint32_t key, bool is_dict);
    nm_status (*pair)(void *context, uint32_t role, uint32_t key, const nm_pickle_cell *value, nm_error *err);
    nm_status (*item)(void *context, uint32_t role, const nm_pickle_cell *value, nm_error *err);
    /* The container is complete; *value (IGNORED when called) is what it is worth wherever it stands. After TAKEN it is
     * not reported to its parent list as an item, and a later reference to it gives IGNORED. */
    nm_status (*end)(void *context, uint32_t role, nm_pickle_cell *value, nm_error *err);
} nm_pickle_handler;

typedef struct nm_pickle nm_pickle;

/*
 * Reads `fd` (borrowed, a file) from its start; `size_bytes` is how long it is. *strings (borrowed) takes the texts; its
 * first `known_count` are the keys the handler knows. A text under any other key is kept too, for a pickle names what it
 * has once held wherever it stands again; it is only not missed where it is too long to be kept.
 */
nm_status nm_pickle_new(int fd, uint64_t size_bytes, const nm_pickle_handler *handler, nm_strings *strings,
                        uint32_t known_count, nm_pickle **out, nm_error *err);
void nm_pickle_free(nm_pickle *pickle); /* NULL is fine */

/* Before the first step: what is read of the file goes into *run too (borrowed, begun). */
void nm_pickle_sum(nm_pickle *pickle, nm_checksum_run *run);

/* Executes one opcode. NM_END: it was STOP, and the whole value has been handed over. */
nm_status nm_pickle_step(nm_pickle *pickle, nm_error *err);

/* For nm_pickle_handler.begin: how many lists stand in the list around before the one that begins. */
uint64_t nm_pickle_place(const nm_pickle *pickle);

uint64_t nm_pickle_offset(const nm_pickle *pickle); /* of the opcode being executed */

#endif
