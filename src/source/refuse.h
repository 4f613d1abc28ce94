/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs that are not read: what they are, as far as that is known, and what to give instead. Known by what is in them, never by
 * their name; the table is in refuse.c.
 */
#ifndef NM_SOURCE_REFUSE_H
#define NM_SOURCE_REFUSE_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/error.h"

/* Are these the first bytes of a text that is known to be another tool's? */
bool nm_source_is_named(nm_bytes head);

/* NM_ERR_FORMAT, with one line. `head` are its first bytes, which have been read from `fd`: of a file more is looked at. -1: they are all. */
nm_status nm_source_refuse(int fd, nm_bytes head, nm_error *err);

#endif
