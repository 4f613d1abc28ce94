/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of places, sites and parts of a device's memory, in the reader's language.
 */
#ifndef NM_SAY_NAMES_H
#define NM_SAY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "say/sentence.h"

#define NM_SAY_PLACE_BYTES 64
#define NM_SAY_HEAP_BYTES  256 /* of a heap's name that is said */

/* Whose a figure or a finding is. */
typedef struct nm_say_owner {
    bool has_rank, has_pid, has_device;
    int64_t rank, pid, device;
    const char *device_kind; /* in capitals; "" where it is not known */
} nm_say_owner;

/* "NPU 0", "host", and where several processes have memory (is_shared) "rank 3 NPU 0" or "pid 100 NPU 0". */
const char *nm_say_place(nm_language language, bool is_shared, const nm_say_owner *owner, char out[NM_SAY_PLACE_BYTES]);

/* "NPU", of the device's kind in capitals; where it is not known the word for a device. */
const char *nm_say_device_kind(nm_language language, const char *kind);

/* A site, cut behind so many columns: what stands for no site, such as "(no stack)", in the language. */
const char *nm_say_site(nm_language language, const char *site, size_t columns, char *out, size_t size);

/* A part of view device_part: of a pool its heap's name, cut behind so many columns, and what that part is good for; else its
 * component. */
const char *nm_say_component(nm_language language, const char *component, const char *heap, const char *part,
                             size_t columns, char *out, size_t size);

/* Of nm_heap_level (trace/event.h): "pool"; "" for what is none. */
const char *nm_heap_level_name(uint64_t level);

#endif
