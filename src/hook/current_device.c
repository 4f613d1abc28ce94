/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the runtime, and remembers the answer for when it must not be asked. errno stays: who asks is in the middle of a
 * hook.
 */
#include "hook/current_device.h"

#include <errno.h>

#include "hook/capture.h"
#include "hook/runtime.h"
#include "record/record.h"

int32_t nm_current_device(void)
{
    int32_t device = -1;
    int saved_errno = errno;

    if (nm_capture_is_open())
        return nm_record_known_device();
    if (nm_real.aclrtGetDevice == NULL || nm_real.aclrtGetDevice(&device) != ACL_SUCCESS)
        device = -1;
    errno = saved_errno;
    nm_record_know_device(device);
    return device;
}
