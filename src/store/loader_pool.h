/* SPDX-License-Identifier: Apache-2.0
 *
 * What the loader settles of pools' misses when all rows have come.
 */
#ifndef NM_STORE_LOADER_POOL_H
#define NM_STORE_LOADER_POOL_H

#include "store/loader.h"

/* Added to the cause of a miss of which only the end tells whether it is cold. */
#define NM_EARLY_CAUSE      16
#define NM_EARLY_CAUSE_TEXT "16"

/* Misses before the first step are cold if there turned out to be steps: once heaps and steps are written. */
nm_status nm_loader_settle_misses(nm_loader *loader, nm_error *err);

#endif
