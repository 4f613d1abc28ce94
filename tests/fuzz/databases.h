/* SPDX-License-Identifier: Apache-2.0
 *
 * A small sound database of npumem-ingest, the bytes of its file.
 */
#ifndef NM_TESTS_FUZZ_DATABASES_H
#define NM_TESTS_FUZZ_DATABASES_H

#include "base/buffer.h"

const nm_buffer *fuzz_sound_database(void); /* made at the first call */

#endif
