/* SPDX-License-Identifier: Apache-2.0
 *
 * test_hook_memory in front of an older runtime; see there.
 */
#include "test_hook_memory.c"
