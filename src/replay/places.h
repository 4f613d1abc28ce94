/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies, or lay last, at an address.
 */
#ifndef NM_REPLAY_PLACES_H
#define NM_REPLAY_PLACES_H

#include "replay/state.h"

/* The place of an address, NULL when nothing is known of it. */
nm_place *nm_place_find(const nm_replay *replay, uint64_t process_id, uint64_t address);
nm_status nm_place_put(nm_replay *replay, nm_live *live, nm_error *err); /* makes the place where it is missing */
void nm_place_take(nm_replay *replay, nm_live *live, const nm_context *context); /* the place may be forgotten by it */
nm_live *nm_place_live_of(const nm_place *place, const nm_heap *heap);           /* place may be NULL */

nm_status nm_place_make_past(nm_replay *replay, nm_place *place, nm_error *err); /* before something there ends */
void nm_place_drop_past(nm_replay *replay, nm_place *place); /* something has begun there: if nothing is left in it */

void nm_places_begin(nm_replay *replay); /* once its passes are known */
void nm_places_free(nm_replay *replay);  /* nothing is looked for by address any more */

#endif
