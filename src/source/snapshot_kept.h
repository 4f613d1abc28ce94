/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of a snapshot's traces in some 13 bytes each, so that a file is read once and its entries are handed out as often
 * as somebody asks. Of a large file that is more than may be kept: then nothing is, and the file is read again.
 */
#ifndef NM_SOURCE_SNAPSHOT_KEPT_H
#define NM_SOURCE_SNAPSHOT_KEPT_H

#include "base/buffer.h"
#include "source/snapshot_reader.h"

extern size_t nm_snapshot_kept_bytes_max; /* 32 MiB; less in tests */

typedef struct nm_snapshot_kept { /* a zeroed one is empty */
    nm_buffer bytes;
    size_t at;                                 /* of the next entry that is handed out */
    nm_snapshot_entry last;                    /* added, or handed out: the next one says what differs */
    uint32_t texts[NM_SNAPSHOT_WORKSPACE + 1]; /* of each action the text that it had last */
    bool is_dropped;                           /* there are too many */
} nm_snapshot_kept;

/* All entries, and then they are handed out from the first on: after nm_snapshot_kept_rewind. */
nm_status nm_snapshot_kept_add(nm_snapshot_kept *kept, const nm_snapshot_entry *entry, nm_error *err);
void nm_snapshot_kept_rewind(nm_snapshot_kept *kept);
bool nm_snapshot_kept_next(nm_snapshot_kept *kept, nm_snapshot_entry *entry); /* false: there is none any more */
void nm_snapshot_kept_free(nm_snapshot_kept *kept);

#endif
