/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a file of another tool, from the first to the last, as often as wanted: as they are, or what a gzip file holds.
 * A pipe is copied to a file without a name first, or read but once.
 */
#ifndef NM_SOURCE_INPUT_H
#define NM_SOURCE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

#define NM_INPUT_LOOK_BYTES_MAX ((size_t)256 << 10) /* of a file, and of what is inside of a compressed one */

typedef struct nm_input nm_input;

/* `fd` is borrowed; `head` is what has been read of it already, from its start. */
nm_status nm_input_open(int fd, nm_bytes head, nm_input **out, nm_error *err);

/* The same for who goes back only from its first NM_INPUT_LOOK_BYTES_MAX bytes: a pipe, which may have no end, is not copied. Its size is
 * then what has been read. */
nm_status nm_input_open_once(int fd, nm_bytes head, nm_input **out, nm_error *err);
void nm_input_close(nm_input *input); /* NULL is fine */

/* As read(2) that is whole (an nm_json_read): fewer than `len` bytes mean the end. NM_ERR_FORMAT: the gzip file is damaged. */
nm_status nm_input_read(void *input, void *data, size_t len, size_t *got, nm_error *err);

nm_status nm_input_rewind(nm_input *input, nm_error *err);

/* Who is told every MiB how far this thread has read its file as it lies, again from 0 when it goes back; NULL: nobody. A source may read
 * all of it while it is opened. `size`: 0 where it is not known. */
typedef void nm_input_watcher(void *context, uint64_t position, uint64_t size);
void nm_input_watch(nm_input_watcher *watcher, void *context);

/* For who reads the file in another way: so much more has been read. */
void nm_input_note_read(nm_input *input, size_t bytes);

/* A gzip file may hold a thousand times its size: so much of what is put on a disk is free, and then so much for each of its bytes. */
#define NM_INPUT_UNPACKED_FREE   (UINT64_C(64) << 20)
#define NM_INPUT_UNPACKED_A_BYTE 64

/* What a gzip file holds goes to a file without a name: from here on that is the file. Nothing where it is none. NM_ERR_LIMIT: it
 * holds more than that. */
nm_status nm_input_unpack(nm_input *input, nm_error *err);

/* Of the file as it lies: bytes consumed, and how many there are. */
uint64_t nm_input_position(const nm_input *input);
uint64_t nm_input_size(const nm_input *input);

/* Did the gzip file end within its data? Known when all is read. */
bool nm_input_is_cut(const nm_input *input);

/* A descriptor of the file as it lies, for who reads it in another way (borrowed; its position is anywhere). */
int nm_input_fd(const nm_input *input);

bool nm_input_is_gzip(nm_bytes head);

/* The first bytes that a gzip file holds, as many of `size` as its first bytes give. */
size_t nm_input_look_into_gzip(nm_bytes head, uint8_t *out, size_t size);

#endif
