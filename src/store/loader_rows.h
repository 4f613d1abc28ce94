/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that come: noted, told to sums, and written.
 */
#ifndef NM_STORE_LOADER_ROWS_H
#define NM_STORE_LOADER_ROWS_H

#include "store/loader_state.h"

/* Takes a row of any kind: of an nm_sink whose context is the loader. */
nm_take_row nm_loader_take;

#endif
