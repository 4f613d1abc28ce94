/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that the compiler inlined. In a trace a stack has one frame for each return address, and that frame says what
 * it was inlined into; here each of these becomes a caller like any other, so that whoever walks stacks meets them all.
 */
#ifndef NM_SITES_INLINED_H
#define NM_SITES_INLINED_H

#include "sites/definitions.h"

#define NM_INLINED_DEPTH_MAX 32 /* of one chain: of a longer one, or one that leads in circles, the rest is left out */

/* Gives inlined functions stacks of their own. The definitions are sorted, and stay so. Once for a load. */
nm_status nm_inlined_expand(nm_definitions *definitions, nm_error *err);

#endif
