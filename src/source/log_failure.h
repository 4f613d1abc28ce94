/* SPDX-License-Identifier: Apache-2.0
 *
 * What a line of a log says of a request for memory that failed: of PyTorch and torch_npu (their words of before and since 2.1), of
 * MindSpore, of CANN's runtime and the driver, and of vLLM when it has no room for its KV cache.
 */
#ifndef NM_SOURCE_LOG_FAILURE_H
#define NM_SOURCE_LOG_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* A rounded figure: what it says, and by how much it may be off. */
typedef struct nm_log_amount {
    uint64_t bytes, doubt_bytes;
    bool is_known;
} nm_log_amount;

typedef enum nm_log_form {
    NM_LOG_NONE,
    NM_LOG_POOL,   /* a framework's pool: with what it held */
    NM_LOG_DRIVER, /* the runtime or the driver: of one failure it writes several lines, each with a part */
    NM_LOG_FIXED, /* a pool of a fixed size (a server's KV cache): tried is what is needed, reserved what there is for it */
} nm_log_form;

#define NM_LOG_PROCESSES_MAX 16 /* of one line; more are counted */

typedef struct nm_log_failure {
    nm_log_form form;
    const char *pool;        /* its name; static */
    const char *device_kind; /* "npu", "gpu" or "device"; static */
    int64_t device;          /* as the program counts, or NM_UNKNOWN_NUMBER */
    int64_t module;          /* nm_cann_module that asked; 0: not known */
    int64_t error_code;      /* NM_UNKNOWN_NUMBER: not said */
    nm_log_amount tried, capacity, free, allocated, active, reserved;
    nm_log_amount own; /* of the device, with what is no pool's */
    struct {
        int64_t pid;
        nm_log_amount used;
    } processes[NM_LOG_PROCESSES_MAX]; /* that the line names, itself maybe */
    size_t process_count;
    size_t at; /* in the line, where its words begin */
} nm_log_failure;

/*
 * Looks for one from *at on, in a line without colours; *at is then behind it. False: there is none. The line's bytes may be
 * anything.
 */
bool nm_log_failure_read(nm_bytes line, size_t *at, nm_log_failure *out);

/* Reads "12.34 GiB", "512 bytes", "3221291008" (bytes) at the text's beginning. Gives its length, 0: there is none. */
size_t nm_log_amount_read(nm_bytes text, nm_log_amount *out);

#endif
