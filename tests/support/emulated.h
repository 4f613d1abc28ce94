/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a unit test runs under an emulator of its processor (./test.sh --aarch64), which lacks a few things that the
 * kernel does: pages wiped on fork, process_vm_readv, a resident size that is the program's own, threads in a child that a
 * program with threads has forked.
 */
#ifndef NM_TESTS_EMULATED_H
#define NM_TESTS_EMULATED_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool is_emulated(void)
{
    return getenv("NPUMEM_EMULATED") != NULL;
}

#endif
