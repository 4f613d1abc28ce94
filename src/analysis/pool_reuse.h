/* SPDX-License-Identifier: Apache-2.0
 *
 * How soon freed memory is asked for again.
 */
#ifndef NM_ANALYSIS_POOL_REUSE_H
#define NM_ANALYSIS_POOL_REUSE_H

#include "analysis/pool_ledger_state.h"

void nm_reuse_request(const nm_run *run, nm_ledger *ledger, const nm_live *block);
nm_status nm_reuse_freed(const nm_run *run, nm_ledger *ledger, const nm_live *block, nm_error *err);
void nm_reuse_forget(const nm_run *run, nm_ledger *ledger, const nm_live *block); /* its free did not happen */
nm_status nm_reuse_finish(const nm_run *run, const nm_ledger *ledger, nm_error *err);
void nm_reuse_free(nm_ledger *ledger);

#endif
