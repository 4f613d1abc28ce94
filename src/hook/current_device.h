/* SPDX-License-Identifier: Apache-2.0
 *
 * The device that the runtime would use for a call of this thread.
 */
#ifndef NM_HOOK_CURRENT_DEVICE_H
#define NM_HOOK_CURRENT_DEVICE_H

#include <stdint.h>

/* -1 when the thread has none, or when it is not known and the runtime must not be asked (capture.h). */
int32_t nm_current_device(void);

#endif
