/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbols that somebody kept: folders of debug files and unstripped libraries in any layout, found by build id alone. The
 * files may be anybody's: looking for build ids reads a few headers with checks of its own, and what libdw is to read, it
 * reads in a process of its own, which a broken file may take down.
 */
#ifndef NM_SYMBOL_FOLDERS_H
#define NM_SYMBOL_FOLDERS_H

#include "base/bytes.h"
#include "base/error.h"
#include "symbol/symbol.h"

#define NM_BUILD_ID_BYTES_MAX 64

typedef struct nm_symbol_identity {
    uint8_t build_id[NM_BUILD_ID_BYTES_MAX];
    size_t build_id_bytes;
    int worth; /* 2: has debug information; 1: a symbol table; 0: what it exports, at most */
} nm_symbol_identity;

/* NM_END: no ELF file of this machine's kind with a build id. NM_ERR_FORMAT: one, but it is damaged. */
nm_status nm_symbol_identify(const char *path, nm_symbol_identity *out, nm_error *err);

typedef struct nm_symbol_folders nm_symbol_folders;

typedef struct nm_symbol_listener { /* told of each file or folder that cannot be used; the rest is */
    void *context;
    void (*tell)(void *context, const char *path, const char *why);
} nm_symbol_listener;

nm_status nm_symbol_folders_new(const nm_symbol_listener *listener, nm_symbol_folders **out, nm_error *err);
void nm_symbol_folders_free(nm_symbol_folders *folders);

/* Looks through the folder and all below it. Symbolic links to files are followed, those to folders are not. */
nm_status nm_symbol_folders_add(nm_symbol_folders *folders, const char *path, nm_error *err);

/* The file with the most to say of a build id: the first one found of the best kind; NULL: none. Borrowed until add. */
const char *nm_symbol_folders_find(nm_symbol_folders *folders, nm_bytes build_id);

/*
 * nm_symbol_file_find for `count` places, in a process of its own with bounded memory and time: out[i] is that of
 * offsets[i]. NM_ERR_FORMAT: the file could not be read, or took that process down.
 */
nm_status nm_symbol_find_apart(const char *path, const uint64_t *offsets, size_t count, nm_symbol_list *out,
                               nm_error *err);

#endif
