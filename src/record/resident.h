/* SPDX-License-Identifier: Apache-2.0
 *
 * The process's own host memory, told when it ends: nobody can ask for it afterwards.
 */
#ifndef NM_RECORD_RESIDENT_H
#define NM_RECORD_RESIDENT_H

#include "trace/ring.h"

/* Into *process, before its end is published. Takes no memory and no lock; what cannot be read stays unknown. */
void nm_resident_note(nm_ring_process *process);

#endif
