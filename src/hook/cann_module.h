/* SPDX-License-Identifier: Apache-2.0
 *
 * The modules of CANN, by which the driver says whose memory is whose.
 */
#ifndef NM_HOOK_CANN_MODULE_H
#define NM_HOOK_CANN_MODULE_H

#include "trace/event.h"

#define NM_MODULE_COUNT      256
#define NM_MODULE_TEXT_BYTES 16

/* The name of a module; of one that is not known "module 200", written to `text`. */
const char *nm_cann_module_name(unsigned module, char text[NM_MODULE_TEXT_BYTES]);

#endif
