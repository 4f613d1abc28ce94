/* SPDX-License-Identifier: Apache-2.0
 *
 * The second file of a ring: its slots as they are, copied out while the drain has no time to encode them, so that the program
 * has room again. A position keeps its number, so whoever reads the ring by positions (view.h) reads those that are here
 * too, and a recovery after a kill at any moment finds each position once. What has been written to the trace gives its memory
 * back.
 */
#ifndef NM_DRAIN_SPILL_H
#define NM_DRAIN_SPILL_H

#include "drain/view.h"

/* How many slots the file may hold that was, or would be, made for a ring. */
#define NM_SPILL_SLOTS     (UINT64_C(1) << 22)

/* Of all rings together: so much memory or disk, and no more than a share of what is free there (nm_spill_room). */
#define NM_SPILL_BYTES_MAX (UINT64_C(1) << 30)

/* So many slots may be spilled beside the `held` ones that are, for the folder's file system and memory. */
uint64_t nm_spill_room(const nm_folder *folder, uint64_t held);

/* Copies the slots from `from` on, up to `to`, which are published, or given up: from now on the view reads them there. False: that
 * cannot be, and nothing has changed. The caller moves the ring's tail afterwards. */
bool nm_spill_put(const nm_folder *folder, nm_view *view, uint64_t from, uint64_t to);

/* Positions below `kept` stand in the trace. True: that is all of the spill, and the ring's own tail is to be moved. */
bool nm_spill_written(const nm_folder *folder, nm_view *view, uint64_t kept);

/* Slots whose memory has not been given back. */
uint64_t nm_spill_held(const nm_view *view);

/* For a recovery: takes up what the drain has left beside the ring that the view is of. */
nm_status nm_spill_take_up(const nm_folder *folder, nm_view *view, nm_error *err);

#endif
