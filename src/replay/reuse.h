/* SPDX-License-Identifier: Apache-2.0
 *
 * How soon freed memory is asked for again.
 */
#ifndef NM_REPLAY_REUSE_H
#define NM_REPLAY_REUSE_H

#include "replay/ledger.h"

nm_status nm_reuse_request(nm_ledger *ledger, nm_live *block, nm_error *err);
nm_status nm_reuse_freed(nm_ledger *ledger, nm_live *block, nm_error *err);
void nm_reuse_forget(nm_ledger *ledger, nm_live *block); /* its free did not happen */
nm_status nm_reuse_finish(nm_replay *replay, const nm_ledger *ledger, nm_error *err);
void nm_reuse_free(nm_ledger *ledger);

#endif
