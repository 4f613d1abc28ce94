/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts symbol/ behind the drain's questions: the two folders do not know each other.
 */
#ifndef NM_TOOL_RECORD_NAMES_H
#define NM_TOOL_RECORD_NAMES_H

#include "drain/namer.h"

typedef struct record_names record_names;

nm_status record_names_new(record_names **out, nm_error *err); /* starts a thread */
void record_names_free(record_names *names);
const nm_namer *record_names_namer(const record_names *names);

#endif
