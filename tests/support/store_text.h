/* SPDX-License-Identifier: Apache-2.0
 *
 * A database from a text trace, through the replay and the store, for whoever says what a failure is.
 */
#ifndef NM_TESTS_SUPPORT_STORE_TEXT_H
#define NM_TESTS_SUPPORT_STORE_TEXT_H

#include "store/store.h"

/* The row of table `input` of a trace without loss. */
nm_input_row load_whole_input(uint64_t event_count);

/* Loads `text` into a database at `path`, published, in place of what is there. `thresholds` may be NULL. err->offset is a line of
 * `text` where that is wrong. */
nm_status store_text(const char *text, const nm_input_row *input, const nm_thresholds *thresholds, const char *path,
                     nm_error *err);

#endif
