/* SPDX-License-Identifier: Apache-2.0
 *
 * How many requests a pool has served: for passes that need nm_hits_pass.
 */
#ifndef NM_ANALYSIS_HITS_H
#define NM_ANALYSIS_HITS_H

#include "replay/pass.h"

/* Requests until now of which it is known whether the pool had to grow. `run`: of nm_hits_pass. */
uint64_t nm_hits_request_count(const nm_run *run, const nm_heap *pool);

#endif
