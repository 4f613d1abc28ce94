/* SPDX-License-Identifier: Apache-2.0
 *
 * A free by address, told between nm_record_enter and nm_record_leave.
 */
#ifndef NM_HOOK_FREE_H
#define NM_HOOK_FREE_H

#include <stdint.h>

#include "hook/runtime.h"
#include "record/record.h"

/* Before the call, since the address may be handed out again before it returns; and after it that it was refused; or only if it was. */
void nm_free_note(nm_free_call call, uint64_t address, const void *frame);
void nm_free_note_failed(nm_free_call call, uint64_t address, nm_acl_error error, const void *frame);

static inline void nm_free_note_end(nm_free_call call, uint64_t address, nm_acl_error error, const void *frame)
{
    if (error != ACL_SUCCESS)
        nm_free_note_failed(call, address, error, frame);
}

#endif
