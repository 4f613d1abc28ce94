/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of selfcheck_torch.py, which python3 is given.
 */
#ifndef NM_TOOL_SELFCHECK_TORCH_H
#define NM_TOOL_SELFCHECK_TORCH_H

#include "base/embedded.h"

extern const nm_embedded_text selfcheck_torch[];

#endif
