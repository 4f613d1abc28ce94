/* SPDX-License-Identifier: Apache-2.0
 *
 * A source that another one is read into beforehand, by a thread of its own: while a record is worked on, the next ones are
 * taken out of their blocks.
 */
#ifndef NM_SOURCE_AHEAD_H
#define NM_SOURCE_AHEAD_H

#include "source/source.h"

/*
 * Puts in place of *source, from its next record on, one that gives the same records, and at the same place the same end or
 * error; closing it closes both. Nobody else may use the other one until then, and nm_source_summary is to be asked after the
 * end alone. Where no thread can be had *source stays what it is.
 */
nm_status nm_source_read_ahead(nm_source **source, nm_error *err);

#endif
