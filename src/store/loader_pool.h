/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of schema/063_pool.sql: the part of the loader's sink that takes what pools did.
 */
#ifndef NM_STORE_LOADER_POOL_H
#define NM_STORE_LOADER_POOL_H

#include "store/loader.h"

/* Misses before the first step are cold if there turned out to be steps: once heaps and steps are written. */
nm_status nm_loader_settle_misses(nm_loader *loader, nm_error *err);

#endif
