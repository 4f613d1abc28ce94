/* SPDX-License-Identifier: Apache-2.0 */
#include "support/snapshot_builder.h"

#include <string.h>

static void put_text(pickle_builder *builder, const char *key, const char *value)
{
    pickle_text(builder, key);
    pickle_text(builder, value);
}

static void put_int(pickle_builder *builder, const char *key, int64_t value)
{
    pickle_text(builder, key);
    pickle_int(builder, value);
}

uint64_t snapshot_put_frames(pickle_builder *builder, const snapshot_frame *frames)
{
    uint64_t count = 0;
    uint64_t index;

    while (frames != NULL && frames[count].name != NULL)
        count++;
    index = pickle_list(builder, count);
    for (uint64_t i = 0; i < count; i++) {
        pickle_dict(builder, 3);
        put_text(builder, "name", frames[i].name);
        put_text(builder, "filename", frames[i].file);
        put_int(builder, "line", frames[i].line);
        pickle_end(builder);
    }
    if (builder->is_jit)
        return pickle_end_shared(builder) + 1;
    pickle_end(builder);
    return index + 1;
}

uint64_t snapshot_put_entry(pickle_builder *builder, const snapshot_entry *entry)
{
    bool has_time = entry->time_us != 0 && entry->time_us != SNAPSHOT_NO_TIME;
    uint64_t index = 0;

    pickle_dict(builder, 5u + has_time + entry->has_pool + (entry->metadata != NULL) + (entry->category != NULL));
    put_text(builder, "action", entry->action);
    put_int(builder, strcmp(entry->action, "oom") == 0 ? "device_free" : "addr", (int64_t)entry->address);
    put_int(builder, "size", entry->size);
    put_int(builder, "stream", entry->stream);
    if (has_time)
        put_int(builder, "time_us", entry->time_us);
    pickle_text(builder, "frames");
    if (entry->shared_frames != 0)
        pickle_get(builder, entry->shared_frames - 1);
    else
        index = snapshot_put_frames(builder, entry->frames);
    if (entry->category != NULL) {
        pickle_text(builder, "category");
        pickle_text(builder, entry->category);
    }
    if (entry->metadata != NULL) {
        pickle_text(builder, "user_metadata");
        pickle_fresh_text(builder, entry->metadata);
    }
    if (entry->has_pool) {
        pickle_text(builder, "pool_id");
        pickle_pair(builder, entry->pool[0], entry->pool[1]);
    }
    pickle_end(builder);
    return index;
}

static void put_block(pickle_builder *builder, const snapshot_block *block)
{
    pickle_dict(builder, 4u + (block->address != 0));
    if (block->address != 0)
        put_int(builder, "address", (int64_t)block->address);
    put_int(builder, "size", block->size);
    put_int(builder, "requested_size", block->requested);
    put_text(builder, "state", block->state);
    pickle_text(builder, "frames");
    snapshot_put_frames(builder, block->frames);
    pickle_end(builder);
}

void snapshot_put_segment(pickle_builder *builder, const snapshot_segment *segment, const snapshot_block *blocks,
                          size_t block_count)
{
    pickle_dict(builder, 9);
    put_int(builder, "device", segment->device);
    put_int(builder, "address", (int64_t)segment->address);
    put_int(builder, "total_size", segment->size);
    put_int(builder, "stream", segment->stream);
    put_text(builder, "segment_type", "large");
    pickle_text(builder, "segment_pool_id");
    pickle_pair(builder, segment->pool[0], segment->pool[1]);
    pickle_text(builder, "is_expandable");
    pickle_bool(builder, segment->is_expandable);
    pickle_text(builder, "frames");
    snapshot_put_frames(builder, NULL);
    pickle_text(builder, "blocks");
    pickle_list(builder, block_count);
    for (size_t i = 0; i < block_count; i++)
        put_block(builder, &blocks[i]);
    pickle_end(builder);
    pickle_end(builder);
}

void snapshot_put_annotation(pickle_builder *builder, const char *stage, const char *name, int64_t device,
                             int64_t time_us)
{
    pickle_dict(builder, 3u + (time_us != SNAPSHOT_NO_TIME));
    put_text(builder, "stage", stage);
    put_text(builder, "name", name);
    put_int(builder, "device", device);
    if (time_us != SNAPSHOT_NO_TIME)
        put_int(builder, "time_us", time_us);
    pickle_end(builder);
}
