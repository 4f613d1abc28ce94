/* SPDX-License-Identifier: Apache-2.0
 *
 * The skippable frame at the beginning of a block. Everything that says how long something is stands under the checksum
 * at its end; the length of the frame itself is bounded before it is used to find that checksum.
 */
#include <string.h>

#include <zstd.h>

#include "base/checksum.h"
#include "trace/codec.h"

#define PREFIX_BYTES (NM_HEADER_FRAME_BYTES + sizeof NM_BLOCK_SIGNATURE - 1)

size_t nm_header_bytes(uint32_t range_count)
{
    return NM_HEADER_FIXED_BYTES + (size_t)range_count * NM_HEADER_RANGE_BYTES + NM_HEADER_CHECKSUM_BYTES;
}

void nm_header_write(const nm_block_header *header, uint8_t *out)
{
    memcpy(out + NM_HEADER_SIGNATURE, NM_BLOCK_SIGNATURE, sizeof NM_BLOCK_SIGNATURE - 1);
    nm_put_u16(out + NM_HEADER_MAJOR, NM_TRACE_VERSION_MAJOR);
    nm_put_u16(out + NM_HEADER_MINOR, (uint16_t)header->version_minor);
    nm_put_u32(out + NM_HEADER_FLAGS, header->flags);
    memcpy(out + NM_HEADER_TRACE_ID, header->trace_id, sizeof header->trace_id);
    nm_put_u64(out + NM_HEADER_BLOCK_INDEX, header->block_index);
    nm_put_u64(out + NM_HEADER_FIRST_SEQ, header->first_seq);
    nm_put_u64(out + NM_HEADER_FIRST_NS, (uint64_t)header->first_ns);
    nm_put_u64(out + NM_HEADER_LAST_NS, (uint64_t)header->last_ns);
    nm_put_u32(out + NM_HEADER_EVENT_COUNT, header->event_count);
    nm_put_u32(out + NM_HEADER_RAW_BYTES, header->raw_bytes);
    nm_put_u64(out + NM_HEADER_FRAME_CHECKSUM, header->frame_checksum);
    nm_put_u32(out + NM_HEADER_DATA_BYTES, header->frame_bytes);
    nm_put_u32(out + NM_HEADER_RANGE_COUNT, header->range_count);
    nm_put_u32(out + NM_HEADER_RANGES_OFFSET, NM_HEADER_FIXED_BYTES);
    nm_put_u32(out + NM_HEADER_RANGE_SIZE, NM_HEADER_RANGE_BYTES);

    size_t checksum_at = nm_header_bytes(header->range_count) - NM_HEADER_CHECKSUM_BYTES;
    if (header->range_count > 0)
        memcpy(out + NM_HEADER_FIXED_BYTES, header->ranges.data, checksum_at - NM_HEADER_FIXED_BYTES);
    nm_put_u64(out + checksum_at, nm_checksum(out, checksum_at));
}

bool nm_header_is_copy(nm_bytes copy, nm_bytes header)
{
    size_t tail_at = NM_HEADER_DATA_BYTES + 4;

    return copy.len == header.len && memcmp(copy.data, header.data, NM_HEADER_FRAME_CHECKSUM) == 0 &&
           memcmp(copy.data + tail_at, header.data + tail_at, copy.len - tail_at - NM_HEADER_CHECKSUM_BYTES) == 0;
}

static void read_fields(const uint8_t *content, nm_block_header *header)
{
    memcpy(header->trace_id, content + NM_HEADER_TRACE_ID, sizeof header->trace_id);
    header->version_minor = nm_get_u16(content + NM_HEADER_MINOR);
    header->flags = nm_get_u32(content + NM_HEADER_FLAGS);
    header->block_index = nm_get_u64(content + NM_HEADER_BLOCK_INDEX);
    header->first_seq = nm_get_u64(content + NM_HEADER_FIRST_SEQ);
    header->first_ns = (int64_t)nm_get_u64(content + NM_HEADER_FIRST_NS);
    header->last_ns = (int64_t)nm_get_u64(content + NM_HEADER_LAST_NS);
    header->event_count = nm_get_u32(content + NM_HEADER_EVENT_COUNT);
    header->raw_bytes = nm_get_u32(content + NM_HEADER_RAW_BYTES);
    header->frame_checksum = nm_get_u64(content + NM_HEADER_FRAME_CHECKSUM);
    header->frame_bytes = nm_get_u32(content + NM_HEADER_DATA_BYTES);
    header->range_count = nm_get_u32(content + NM_HEADER_RANGE_COUNT);
}

/* The ranges and the limits. `content_bytes` is the whole header. */
static nm_status check_fields(const uint8_t *content, size_t content_bytes, nm_block_header *header, nm_error *err)
{
    uint64_t ranges_at = nm_get_u32(content + NM_HEADER_RANGES_OFFSET);
    uint64_t range_size = nm_get_u32(content + NM_HEADER_RANGE_SIZE);
    uint64_t room = content_bytes - NM_HEADER_CHECKSUM_BYTES;

    if (ranges_at < NM_HEADER_FIXED_BYTES || range_size < NM_HEADER_RANGE_BYTES || ranges_at > room ||
        header->range_count > (room - ranges_at) / range_size)
        return nm_fail(err, NM_ERR_FORMAT, NM_HEADER_FRAME_BYTES + NM_HEADER_RANGE_COUNT,
                       "%u ranges do not fit into their header", header->range_count);
    if (header->event_count > NM_BLOCK_EVENTS_MAX)
        return nm_fail(err, NM_ERR_FORMAT, NM_HEADER_FRAME_BYTES + NM_HEADER_EVENT_COUNT,
                       "block of %u events is over the limit", header->event_count);
    if (header->raw_bytes > NM_BLOCK_RAW_BYTES_MAX)
        return nm_fail(err, NM_ERR_FORMAT, NM_HEADER_FRAME_BYTES + NM_HEADER_RAW_BYTES,
                       "block of %u raw bytes is over the limit", header->raw_bytes);
    if (header->frame_bytes > ZSTD_COMPRESSBOUND(NM_BLOCK_RAW_BYTES_MAX))
        return nm_fail(err, NM_ERR_FORMAT, NM_HEADER_FRAME_BYTES + NM_HEADER_DATA_BYTES,
                       "data frame of %u bytes is over the limit", header->frame_bytes);
    if (header->first_seq > UINT64_MAX - NM_BLOCK_EVENTS_MAX)
        return nm_fail(err, NM_ERR_FORMAT, NM_HEADER_FRAME_BYTES + NM_HEADER_FIRST_SEQ,
                       "the sequence number overflows");

    header->ranges = (nm_bytes){content + ranges_at, (size_t)(header->range_count * range_size)};
    header->block_bytes = NM_HEADER_FRAME_BYTES + content_bytes + header->frame_bytes;
    return NM_OK;
}

nm_status nm_block_read_header(nm_bytes bytes, nm_block_header *header, nm_error *err)
{
    *header = (nm_block_header){0};
    if (bytes.len < PREFIX_BYTES)
        return NM_END;

    const uint8_t *content = bytes.data + NM_HEADER_FRAME_BYTES;
    uint32_t content_bytes = nm_get_u32(bytes.data + 4);

    if (nm_get_u32(bytes.data) != NM_BLOCK_MAGIC)
        return nm_fail(err, NM_ERR_FORMAT, 0, "no block begins here");
    if (memcmp(content, NM_BLOCK_SIGNATURE, sizeof NM_BLOCK_SIGNATURE - 1) != 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_HEADER_FRAME_BYTES, "the frame has no trace signature");
    if (content_bytes < NM_HEADER_FIXED_BYTES + NM_HEADER_CHECKSUM_BYTES || content_bytes > NM_BLOCK_HEADER_BYTES_MAX)
        return nm_fail(err, NM_ERR_FORMAT, 4, "block header of %u bytes is outside the limits", content_bytes);
    if (content_bytes > bytes.len - NM_HEADER_FRAME_BYTES)
        return NM_END;

    size_t checksum_at = content_bytes - NM_HEADER_CHECKSUM_BYTES;
    header->read_bytes = content_bytes;
    if (nm_checksum(content, checksum_at) != nm_get_u64(content + checksum_at))
        return nm_fail(err, NM_ERR_FORMAT, NM_HEADER_FRAME_BYTES + checksum_at, "block header checksum differs");

    unsigned major = nm_get_u16(content + NM_HEADER_MAJOR);
    if (major != NM_TRACE_VERSION_MAJOR)
        return nm_fail(err, NM_ERR_VERSION, NM_HEADER_FRAME_BYTES + NM_HEADER_MAJOR,
                       "trace format %u is newer than this program reads (%d)", major, NM_TRACE_VERSION_MAJOR);

    read_fields(content, header);
    return check_fields(content, content_bytes, header, err);
}

/* memchr passes over what holds no such letter, zeros above all, several times as fast as memmem. */
size_t nm_block_search(nm_bytes bytes, size_t from)
{
    while (from < bytes.len && bytes.len - from >= PREFIX_BYTES) {
        const uint8_t *begin = bytes.data + from + NM_HEADER_FRAME_BYTES;
        const uint8_t *last = bytes.data + bytes.len - (sizeof NM_BLOCK_SIGNATURE - 1);
        const uint8_t *found = memchr(begin, NM_BLOCK_SIGNATURE[0], (size_t)(last - begin) + 1);

        if (found == NULL)
            break;
        if (memcmp(found, NM_BLOCK_SIGNATURE, sizeof NM_BLOCK_SIGNATURE - 1) == 0 &&
            nm_get_u32(found - NM_HEADER_FRAME_BYTES) == NM_BLOCK_MAGIC)
            return (size_t)(found - NM_HEADER_FRAME_BYTES - bytes.data);
        from = (size_t)(found - NM_HEADER_FRAME_BYTES - bytes.data) + 1;
    }
    return bytes.len;
}

nm_status nm_block_find(nm_bytes bytes, size_t *at, uint64_t *vain_bytes, nm_block_header *header)
{
    bool is_first = *at == 0;
    size_t end = is_first && bytes.len > NM_TRACE_SEARCH_BYTES ? (size_t)NM_TRACE_SEARCH_BYTES : bytes.len;

    for (*at = nm_block_search((nm_bytes){bytes.data, end}, *at); *at < end;
         *at = nm_block_search((nm_bytes){bytes.data, end}, *at + 1)) {
        nm_status status = nm_block_read_header((nm_bytes){bytes.data + *at, bytes.len - *at}, header, NULL);

        if (status == NM_OK || status == NM_ERR_VERSION)
            return status;
        *vain_bytes += header->read_bytes;
        if (*vain_bytes > NM_TRACE_VAIN_FREE + NM_TRACE_VAIN_A_BYTE * (uint64_t)*at)
            break;
    }
    *at = bytes.len;
    return NM_END;
}

nm_block_range nm_block_range_at(const nm_block_header *header, uint32_t index)
{
    const uint8_t *range = header->ranges.data + header->ranges.len / header->range_count * index;

    return (nm_block_range){nm_get_u64(range), nm_get_u64(range + 8), nm_get_u64(range + 16)};
}
