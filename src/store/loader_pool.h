/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of schema/063_pool.sql: the part of the loader's sink that takes what pools did, and the sums that follow.
 */
#ifndef NM_STORE_LOADER_POOL_H
#define NM_STORE_LOADER_POOL_H

#include "store/loader.h"

/* Functions of the sink. */
nm_status nm_loader_take_miss(void *context, const nm_miss_row *row, nm_error *err);
nm_status nm_loader_take_pending(void *context, const nm_pending_row *row, nm_error *err);
nm_status nm_loader_take_pool_group(void *context, const nm_pool_group_row *row, nm_error *err);
nm_status nm_loader_take_pool_class(void *context, const nm_pool_class_row *row, nm_error *err);
nm_status nm_loader_take_pool_step(void *context, const nm_pool_step_row *row, nm_error *err);
nm_status nm_loader_take_pool_reuse(void *context, const nm_pool_reuse_row *row, nm_error *err);
nm_status nm_loader_take_pool_sum(void *context, const nm_pool_sum_row *row, nm_error *err);

nm_status nm_loader_write_pool_sums(nm_loader *loader, nm_error *err); /* at the end */

/* Misses before the first step are cold if there turned out to be steps: once heaps and steps are written. */
nm_status nm_loader_settle_misses(nm_loader *loader, nm_error *err);

#endif
