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

#endif
