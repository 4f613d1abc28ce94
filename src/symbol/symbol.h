/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for places in ELF files: function, source file and line, by libdw. npumem-record asks a thread of its own: debug
 * information of a large library takes seconds to read, and the rings do not wait. npumem-ingest asks folders.h.
 */
#ifndef NM_SYMBOL_SYMBOL_H
#define NM_SYMBOL_SYMBOL_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/error.h"

/* ---- One file ---- */

typedef struct nm_symbol_file nm_symbol_file;

#define NM_SYMBOL_DEPTH_MAX 32 /* of a chain of inlined functions; of a longer one the outer part is left out */

typedef struct nm_symbol { /* NULL: unknown */
    char *function;        /* demangled */
    char *file;
    uint64_t line; /* of the place; in a caller, of the call that was inlined. 0: unknown */
} nm_symbol;

/* All functions that one place in the code is in: first the innermost inlined one, each followed by the one that it was
 * inlined into, last the function whose code it is. Without those that are marked as no place of their own (gnu::artificial).
 * Owned by the caller. */
typedef struct nm_symbol_list {
    nm_symbol *items;
    size_t count; /* 0: nothing is known, or no memory */
} nm_symbol_list;

/* NM_ERR_IO or NM_ERR_FORMAT when there is nothing to be read. */
nm_status nm_symbol_file_open(const char *path, nm_symbol_file **out, nm_error *err);
void nm_symbol_file_free(nm_symbol_file *file);

/* `offset` counts from where file offset 0 is loaded, as in nm_ring_module. */
void nm_symbol_file_find(nm_symbol_file *file, uint64_t offset, nm_symbol_list *out);
void nm_symbol_list_clear(nm_symbol_list *list);

/* The note's bytes, borrowed from the file; empty when it has none. */
nm_bytes nm_symbol_file_build_id(nm_symbol_file *file);

/* ---- Many questions, answered by a thread ---- */

typedef struct nm_symbols nm_symbols;

typedef struct nm_symbols_question {
    uint64_t ticket; /* comes back in the answer */
    nm_bytes path;   /* copied */
    uint64_t inode;  /* of the file when it was loaded; 0: unknown */
    bool is_module;  /* the build id is asked for, not a place */
    uint64_t offset;
} nm_symbols_question;

typedef struct nm_symbols_answer { /* borrowed until the next poll */
    uint64_t ticket;
    bool is_module;
    nm_symbol_list places;
    nm_bytes build_id;
} nm_symbols_answer;

nm_status nm_symbols_new(nm_symbols **out, nm_error *err); /* starts the thread */
void nm_symbols_free(nm_symbols *symbols); /* drops what is not answered; waits for one answer at most */

nm_status nm_symbols_ask(nm_symbols *symbols, const nm_symbols_question *question, nm_error *err);
bool nm_symbols_poll(nm_symbols *symbols, nm_symbols_answer *answer);
size_t nm_symbols_waiting(nm_symbols *symbols);

#endif
