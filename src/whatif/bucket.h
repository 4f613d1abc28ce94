/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool of block sizes, simulated: each request gets a block of the smallest class that is large enough. A class takes
 * slabs from the device and cuts them into blocks of its size; slabs of one stream never serve another. What is larger
 * than the largest class comes from the device by itself and goes back when it is freed. Slabs that hold nothing stay,
 * until the program empties the cache or the device or the pool's limit is reached.
 */
#ifndef NM_WHATIF_BUCKET_H
#define NM_WHATIF_BUCKET_H

#include "whatif/model.h"
#include "whatif/settings.h"

/* `device` is borrowed. NM_END: the initial size does not fit on it. */
nm_status nm_bucket_new(const nm_bucket_settings *settings, nm_sim_device *device, size_t lane_count, nm_model **out,
                        nm_error *err);

#endif
