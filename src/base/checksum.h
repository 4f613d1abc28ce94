/* SPDX-License-Identifier: Apache-2.0
 *
 * XXH64, with seed 0 where a file holds it, as the public specification of xxHash defines it (the checksum that zstd uses inside its frames).
 */
#ifndef NM_BASE_CHECKSUM_H
#define NM_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t nm_checksum(const void *data, size_t len);

/* The same with another seed: for hash tables, see nm_map_secret. */
uint64_t nm_checksum_seeded(const void *data, size_t len, uint64_t seed);

/* The same of what comes in pieces, with seed 0: begin, add each piece, end. */
typedef struct nm_checksum_run {
    uint64_t lane[4];
    uint64_t len;     /* so far */
    uint8_t kept[32]; /* the last len % 32 bytes: less than a stripe */
} nm_checksum_run;

void nm_checksum_begin(nm_checksum_run *run);
void nm_checksum_add(nm_checksum_run *run, const void *data, size_t len);
uint64_t nm_checksum_end(const nm_checksum_run *run);

#endif
