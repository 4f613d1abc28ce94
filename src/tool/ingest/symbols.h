/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-ingest --symbols: puts symbol/ behind the store's questions; the two folders do not know each other.
 */
#ifndef NM_TOOL_INGEST_SYMBOLS_H
#define NM_TOOL_INGEST_SYMBOLS_H

#include "sites/frame_names.h"

typedef struct ingest_symbols ingest_symbols;

/* Looks through the folders. What cannot be used in them is said on standard error, a line each. */
nm_status ingest_symbols_new(const char *const *folders, size_t count, ingest_symbols **out, nm_error *err);
void ingest_symbols_free(ingest_symbols *symbols); /* NULL is fine */

const nm_frame_namer *ingest_symbols_namer(const ingest_symbols *symbols); /* NULL of NULL */

#endif
