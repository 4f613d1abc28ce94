/* SPDX-License-Identifier: Apache-2.0
 *
 * One status and one error record for the whole project. The function that first sees a failure fills the record with
 * nm_fail(); everything above it only passes the status up. Nothing here allocates. Texts are in the reader's language (spoken.h).
 */
#ifndef NM_BASE_ERROR_H
#define NM_BASE_ERROR_H

#include <stdint.h>

typedef enum nm_status {
    NM_OK = 0,
    NM_END,          /* no more data; not an error, err is not filled */
    NM_ERR_FORMAT,   /* the input is not what it claims to be; err->offset is the first byte that cannot be right */
    NM_ERR_VERSION,  /* the input is from a newer major version */
    NM_ERR_IO,       /* a system call failed; its strerror text is in err->text */
    NM_ERR_MEMORY,   /* out of memory */
    NM_ERR_LIMIT,    /* a documented limit was passed */
    NM_ERR_EXISTS,   /* the output is already there */
    NM_ERR_USAGE,    /* the caller asked for what is not offered */
    NM_ERR_DATABASE, /* SQLite refused; its message is in err->text */
    NM_ERR_BUSY,     /* another recording writes it */
    NM_ERR_WRITE,    /* an output could not be written: it is what the error is about, and not what was read for it */
} nm_status;

#define NM_ERROR_TEXT_BYTES 160
#define NM_ERROR_PATH_BYTES 1024
#define NM_NO_OFFSET        UINT64_MAX /* the error is not at a place in a file */

typedef struct nm_error {
    nm_status status;
    uint64_t offset;                   /* bytes from the start of the input, or NM_NO_OFFSET */
    char text[NM_ERROR_TEXT_BYTES];    /* one line, no file name, no newline, always terminated */
    char written[NM_ERROR_PATH_BYTES]; /* of NM_ERR_WRITE: what could not be written; "": not said */
} nm_error;

/* Fills *err (NULL is fine) and returns `status`, so that a caller can write `return nm_fail(...)`. Newlines and other
 * control characters become spaces, what else is not safe to show question marks. */
nm_status nm_fail(nm_error *err, nm_status status, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* nm_fail with ": " and the text of `system_errno` at the end; the status is NM_ERR_IO. */
nm_status nm_fail_errno(nm_error *err, int system_errno, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "cannot write: No space left on device"; the status is NM_ERR_WRITE. */
nm_status nm_fail_write(nm_error *err, int system_errno);

/* For whoever knows where an output goes to: gives a NM_ERR_WRITE that has no name yet that of `path` (NULL: nothing); of one
 * that is too long its end. Gives `status` back, whatever it is. */
nm_status nm_name_written(nm_status status, const char *path, nm_error *err);

/* What an error is about: the output that could not be written, or else `subject`, what was read or made then. */
const char *nm_error_subject(const nm_error *err, const char *subject);

#endif
