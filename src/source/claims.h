/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose driver memory is, told when it comes. A pool takes memory of the driver first and cuts a block out of it later, so
 * that whoever reads event by event takes the memory for the program's until then. This reads a source ahead, while there
 * is driver memory of which that is not known, and delivers the event that made it with the pool whose block is the first
 * in it: nm_event.pool_id, with that block's stream and private pool.
 *
 * Definitions come up to NM_CLAIMS_AHEAD events before their place. What nobody cuts by then, or gives back before, names
 * no pool.
 */
#ifndef NM_SOURCE_CLAIMS_H
#define NM_SOURCE_CLAIMS_H

#include "source/source.h"

#define NM_CLAIMS_AHEAD 2048 /* events; memory is for as many, once one has waited so long */

typedef struct nm_claims nm_claims;

nm_status nm_claims_new(nm_source *source, nm_claims **out, nm_error *err); /* `source` is borrowed */
nm_status nm_claims_next(nm_claims *claims, nm_record *out, nm_error *err); /* as nm_source_next() */
void nm_claims_free(nm_claims *claims);                                     /* NULL is fine */

#endif
