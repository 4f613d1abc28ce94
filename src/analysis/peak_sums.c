/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of the last peak alone. What ended before that peak was added to an earlier one, and what ends after a peak was live
 * at it if it was born by then.
 */
#include "analysis/peak_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

void nm_peak_sums_settle(nm_peak_sums *sums, int64_t peak_seq)
{
    if (!sums->has_peak || sums->peak_seq == peak_seq)
        return;
    nm_map_free(&sums->index_of);
    sums->count = 0;
    sums->has_peak = false;
}

nm_status nm_peak_sums_add(nm_peak_sums *sums, const nm_live_row *row, int64_t peak_seq, nm_key key, nm_error *err)
{
    nm_status status = NM_OK;
    uint64_t index;

    /* An end may be told late. NM_NO_SEQ, of the baseline and of a peak before the first event, is the least. */
    if ((sums->has_peak && peak_seq < sums->peak_seq) || row->alloc_seq > peak_seq)
        return NM_OK;
    nm_peak_sums_settle(sums, peak_seq);
    sums->has_peak = true;
    sums->peak_seq = peak_seq;
    status = nm_map_number(&sums->index_of, key, &index, err);
    if (status == NM_OK && index == sums->count) {
        status = nm_array_grow(&sums->items, &sums->capacity, sums->count + 1, sizeof *sums->items, err);
        if (status == NM_OK)
            sums->items[sums->count++] = (nm_peak_sum){.key = key};
    }
    if (status == NM_OK) {
        sums->items[index].live_count++;
        sums->items[index].live_bytes += row->size_bytes;
    }
    return status;
}

void nm_peak_sums_free(nm_peak_sums *sums)
{
    nm_map_free(&sums->index_of);
    free(sums->items);
    *sums = (nm_peak_sums){0};
}
