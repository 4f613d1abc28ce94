/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of one recording: a whole trace, or the parts of one that was kept in parts (npumem-record --keep), found by
 * a folder, by the name that they have in common, or one by one, and put into their order by what stands in them.
 */
#ifndef NM_TRACE_FILES_H
#define NM_TRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct nm_trace_file {
    char *path; /* owned */
    int fd;     /* owned; at its start */
    uint64_t bytes;
    uint64_t block_index; /* of the first block that can be recognised */
    uint8_t trace_id[16];
} nm_trace_file;

typedef struct nm_trace_files {
    nm_trace_file *items; /* owned; in the order of the recording */
    size_t count, capacity;
    bool is_closed; /* the descriptors are -1 */
} nm_trace_files;

/* Is `path` a file that is to be opened as it is, whatever stands in it? Else it is a folder, or stands for NAME.NNN. */
bool nm_trace_files_is_single(const char *path);

/*
 * Opens what the paths name with `flags`: files, folders, and names of which only NAME.NNN are there. What is no trace is
 * left out of a folder and refused elsewhere. To be written to, nothing is opened through a link that was only found in a folder.
 * NM_ERR_USAGE: they are of several recordings. NM_ERR_IO: nothing is there.
 */
nm_status nm_trace_files_open(const char *const *paths, size_t path_count, int flags, nm_trace_files *out,
                              nm_error *err);

#define NM_TRACE_FILES_NONE "there is no trace in this folder"

/* The same without the descriptors (-1), of as many recordings as there are, in no order. Of a file that is no trace, or a folder
 * without any, nothing is found. */
nm_status nm_trace_files_find(const char *path, nm_trace_files *out, nm_error *err);

/* Shows each NAME.NNN that is (the beginning of) a trace, or empty as a part that was just being begun: its name in the open
 * folder. `visit` may be NULL. Gives their number. Links are not followed. */
size_t nm_trace_files_visit(const char *name, void (*visit)(void *context, int folder, const char *part),
                            void *context);

/* What of a file can be read, by the checksums of its blocks: of two that begin alike, the one with more is to be taken. */
typedef struct nm_trace_content {
    uint64_t event_count, block_count;
} nm_trace_content;

nm_trace_content nm_trace_files_content(const char *path); /* nothing of what is no trace */
void nm_trace_files_close(nm_trace_files *files);

/* How much of the path is the name that the parts have in common: without a last ".NNN". */
size_t nm_trace_files_stem(const char *path);

#endif
