/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace changed so that its checksums are right: fields of its events and definitions, bytes of its blocks' contents, whole blocks, headers.
 */
#ifndef NM_TESTS_FUZZ_TRACE_CHANGE_H
#define NM_TESTS_FUZZ_TRACE_CHANGE_H

#include <stddef.h>
#include <stdint.h>

/* A fuzz_target.mutate. 0: it cannot be changed so. */
size_t fuzz_change_trace(uint8_t *data, size_t len, size_t room, unsigned seed);

#endif
