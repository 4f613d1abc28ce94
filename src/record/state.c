/* SPDX-License-Identifier: Apache-2.0
 *
 * The one state of the process and the one of each thread, empty until the process joins a recording. Here and nowhere
 * else, so that whatever reads them needs to know nobody who fills them.
 */
#include "record/state.h"

_Atomic uint64_t nm_state_no_generation;

nm_state nm_process_state = {.generation = &nm_state_no_generation};
__thread nm_local nm_thread_local __attribute__((tls_model("initial-exec"))) = {.generation = NM_GENERATION_NONE};
