/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory of the host a process has, as the kernel says it in /proc.
 */
#ifndef NM_DRAIN_HOST_MEMORY_H
#define NM_DRAIN_HOST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event.h"

#define NM_HOST_FIGURES       (NM_MEMORY_HOST_MAX - NM_MEMORY_HOST_RESIDENT + 1)
#define NM_HOST_BYTES_UNKNOWN UINT64_MAX
#define NM_HOST_TEXT_BYTES    8192 /* of a file of the kernel's, with a zero behind them */

typedef struct nm_host_memory {
    uint64_t bytes[NM_HOST_FIGURES]; /* by kind, from NM_MEMORY_HOST_RESIDENT on; or NM_HOST_BYTES_UNKNOWN */
} nm_host_memory;

/* False when the process has gone: a zombie has no memory. What an older kernel does not tell is unknown. */
bool nm_host_memory_read(int64_t pid, nm_host_memory *out);

void nm_host_memory_clear(nm_host_memory *memory); /* all unknown */

/* Bytes of the machine, 0: unknown; and of these what is in use and the kernel cannot give to others, or NM_HOST_BYTES_UNKNOWN. */
uint64_t nm_host_memory_machine(uint64_t *used_bytes);

/* The text of a file of the kernel's, cut to fit. False: there is none, or nothing in it. */
bool nm_host_text_read(const char *path, char text[NM_HOST_TEXT_BYTES]);

#endif
