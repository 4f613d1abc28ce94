/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON (RFC 8259), out and in. The writer appends to a buffer; its text is valid whatever bytes a name has, and safe on a
 * terminal. The reader pulls one token after another out of an input of any length, and holds one token's text and 64 KiB.
 * Of the libraries in Debian one streams, yajl: its last release is of 2014, and its faults are mended by distributions alone.
 */
#ifndef NM_BASE_JSON_H
#define NM_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"

/* ---- Writer: nm_json json = {.out = &buffer, .err = err}; each call writes one value; `name` is NULL in a list ---- */

typedef struct nm_json {
    nm_buffer *out; /* borrowed */
    nm_error *err;
    nm_status status; /* the first failure: from then on nothing is written */
    bool has_one;     /* of what is open: the next value has a comma in front */
} nm_json;

void nm_json_begin(nm_json *json, const char *name, char opening);    /* '{' or '[' */
void nm_json_end(nm_json *json, char closing);                        /* '}' or ']' */
void nm_json_text(nm_json *json, const char *name, const char *text); /* NULL: null */
void nm_json_bytes(nm_json *json, const char *name, nm_bytes text);
void nm_json_int(nm_json *json, const char *name, int64_t value);
void nm_json_real(nm_json *json, const char *name,
                  double value); /* the shortest that reads back the same; not finite: null */
void nm_json_bool(nm_json *json, const char *name, bool value);
void nm_json_null(nm_json *json, const char *name);
void nm_json_known(nm_json *json, const char *name, bool is_known, int64_t value); /* else null */
void nm_json_value(nm_json *json, const char *name, nm_bytes value);               /* JSON already */

/* JSON of somebody else, read and written anew. What is none fails the writer as nm_json_next says. */
void nm_json_copy(nm_json *json, const char *name, nm_bytes value);

/* ---- Reader ---- */

#define NM_JSON_DEPTH_MAX      512
#define NM_JSON_TEXT_BYTES_MAX ((size_t)16 << 20) /* a name and its text together */

typedef enum nm_json_kind {
    NM_JSON_OBJECT,
    NM_JSON_OBJECT_END,
    NM_JSON_LIST,
    NM_JSON_LIST_END,
    NM_JSON_TEXT,
    NM_JSON_NUMBER,
    NM_JSON_TRUE,
    NM_JSON_FALSE,
    NM_JSON_NULL,
} nm_json_kind;

typedef struct nm_json_token {
    nm_json_kind kind;
    nm_bytes name;   /* in an object the member's, but of its end; else .data is NULL. Borrowed until the next call */
    nm_bytes text;   /* what a text says in UTF-8 (other bytes as they are), a number's characters. As long */
    uint64_t offset; /* bytes in front of it in the input */
} nm_json_token;

/* As read(2) that is whole: fewer than `len` bytes mean the end. */
typedef nm_status nm_json_read(void *context, void *data, size_t len, size_t *got, nm_error *err);

typedef struct nm_json_reader {
    nm_json_read *read; /* NULL: `data` is all */
    void *context;
    const uint8_t *data; /* what has been read: data[at] is next */
    size_t len, at;
    uint64_t offset; /* bytes of the input in front of `data` */
    nm_buffer chunk, text;
    unsigned depth;
    uint8_t is_list[NM_JSON_DEPTH_MAX / 8]; /* a bit a depth */
    bool has_one;                           /* what is open has a value */
    bool is_passing;                        /* texts are checked, and not kept */
} nm_json_reader;

nm_json_reader nm_json_reader_over(nm_bytes text);
nm_json_reader nm_json_reader_from(nm_json_read *read, void *context);
void nm_json_reader_free(nm_json_reader *reader);

/*
 * The next token. NM_END: the one value was whole, and nothing but blanks is behind it. NM_ERR_FORMAT: no JSON, or an end
 * within it. NM_ERR_LIMIT: deeper, or a longer text, than this reader takes. After an error the reader is of no more use.
 */
nm_status nm_json_next(nm_json_reader *reader, nm_json_token *token, nm_error *err);

/* Passes over the rest of the value that `token` began; nothing where it is no object and no list. Any length, no memory. */
nm_status nm_json_pass(nm_json_reader *reader, const nm_json_token *token, nm_error *err);

bool nm_json_is(nm_bytes text, const char *word);

/* A number without fraction and exponent that fits. False: it is something else, and *value is not to be used. */
bool nm_json_get_int(const nm_json_token *token, int64_t *value);

#endif
