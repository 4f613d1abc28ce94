/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of names.
 */
#ifndef NM_STORE_LOADER_NAMES_H
#define NM_STORE_LOADER_NAMES_H

#include "store/loader_state.h"

/* Gives input, processes, threads, devices, heaps, modules, frames and stacks with their sites to the loader's sink, when
 * all other rows have come. */
nm_status nm_loader_write_names(nm_loader *loader, const nm_input_row *input, nm_error *err);

#endif
