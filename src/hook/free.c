/* SPDX-License-Identifier: Apache-2.0
 *
 * The two events of a free by address. They stand below both ACL's hooks and the driver's, which tell of the same memory,
 * and know neither.
 */
#include "hook/free.h"

void nm_free_note(nm_free_call call, uint64_t address, const void *frame)
{
    nm_record_free(NM_EVENT_FREE, &(nm_ring_free){.address = address, .detail = call}, frame);
}

void nm_free_note_failed(nm_free_call call, uint64_t address, nm_acl_error error, const void *frame)
{
    nm_record_free(NM_EVENT_FREE_FAILED, &(nm_ring_free){.address = address, .detail = call, .error_code = error},
                   frame);
}
