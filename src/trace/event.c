/* SPDX-License-Identifier: Apache-2.0
 *
 * Which fields each kind of event carries. A kind may gain fields in a minor version: readers take the mask that the
 * block states, not this one.
 */
#include "trace/event.h"

#include <stddef.h>

#define BIT(field) (UINT64_C(1) << NM_FIELD_##field)
#define ALWAYS     (BIT(TIME) | BIT(FLAGS) | BIT(THREAD))
#define CALL       (ALWAYS | BIT(STACK) | BIT(STREAM))

#define SUMS                                                                                                           \
    (BIT(HEAP) | BIT(BLOCK) | BIT(FREE) | BIT(ALLOCATION_COUNT) | BIT(ENDED_COUNT) | BIT(LIVE_COUNT) | BIT(PEAK))

static const uint64_t fields_of_kind[NM_EVENT_KIND_MAX + 1] = {
    [NM_EVENT_ALLOC] = CALL | BIT(HEAP) | BIT(ADDRESS) | BIT(REQUESTED) | BIT(BLOCK) | BIT(POLICY) | BIT(COST),
    [NM_EVENT_FREE] = CALL | BIT(HEAP) | BIT(ADDRESS) | BIT(DETAIL),
    [NM_EVENT_FREE_REQUESTED] = CALL | BIT(HEAP) | BIT(ADDRESS),
    [NM_EVENT_FREE_FAILED] = ALWAYS | BIT(HEAP) | BIT(ADDRESS) | BIT(ERROR) | BIT(DETAIL),
    [NM_EVENT_ALLOC_FAILED] = CALL | BIT(HEAP) | BIT(REQUESTED) | BIT(POLICY) | BIT(ERROR) | BIT(FREE) | BIT(TOTAL),
    [NM_EVENT_MAP] = CALL | BIT(HEAP) | BIT(ADDRESS) | BIT(BLOCK) | BIT(POLICY),
    [NM_EVENT_UNMAP] = CALL | BIT(HEAP) | BIT(ADDRESS) | BIT(BLOCK),
    [NM_EVENT_RESET] = ALWAYS | BIT(STACK) | BIT(DEVICE),
    [NM_EVENT_RESERVED] = ALWAYS | BIT(HEAP) | BIT(BLOCK),
    [NM_EVENT_EXPORT] = ALWAYS | BIT(STACK) | BIT(ADDRESS) | BIT(DETAIL),
    [NM_EVENT_COPY] = CALL | BIT(ADDRESS) | BIT(SOURCE_ADDRESS) | BIT(SIZE) | BIT(LIMIT) | BIT(DETAIL) | BIT(COST) |
                      BIT(ERROR) | BIT(DEVICE) | BIT(NUMBER),
    [NM_EVENT_MARK] = ALWAYS | BIT(NAME),
    [NM_EVENT_STEP] = ALWAYS | BIT(NUMBER) | BIT(DEVICE),
    [NM_EVENT_RANGE_BEGIN] =
        ALWAYS | BIT(NAME) | BIT(NUMBER) | BIT(STREAM) | BIT(DETAIL) | BIT(ADDRESS) | BIT(REQUESTED) | BIT(MODEL),
    [NM_EVENT_RANGE_END] = ALWAYS | BIT(NUMBER) | BIT(ERROR) | BIT(MODEL),
    [NM_EVENT_MEMORY_SAMPLE] = ALWAYS | BIT(DEVICE) | BIT(DETAIL) | BIT(FREE) | BIT(TOTAL) | BIT(NUMBER) | BIT(SIZE),
    [NM_EVENT_DEVICE_CALL] = ALWAYS | BIT(DEVICE) | BIT(DETAIL) | BIT(ERROR),
    [NM_EVENT_PROCESS_END] = ALWAYS | BIT(NUMBER) | BIT(DETAIL) | BIT(ERROR),
    [NM_EVENT_STREAM_CALL] = CALL | BIT(NUMBER) | BIT(DEVICE) | BIT(DETAIL) | BIT(COST) | BIT(ERROR),
    [NM_EVENT_MODULE_SAMPLE] = ALWAYS | BIT(DEVICE) | BIT(NAME) | BIT(SIZE) | BIT(TOTAL),
    [NM_EVENT_NOTE] = ALWAYS | BIT(NAME) | BIT(DETAIL) | BIT(NUMBER),
    [NM_EVENT_OBJECTS] = ALWAYS | BIT(STACK) | BIT(NUMBER) | BIT(DETAIL) | BIT(ALLOCATION_COUNT) | BIT(ENDED_COUNT),
    [NM_EVENT_PAUSE] = ALWAYS | BIT(NUMBER) | BIT(DETAIL),
    [NM_EVENT_LOSS] = ALWAYS | BIT(NUMBER) | BIT(DETAIL) | BIT(UNTIL),
    [NM_EVENT_STATE_SEGMENT] = ALWAYS | BIT(HEAP) | BIT(ADDRESS) | BIT(BLOCK) | BIT(SIZE) | BIT(STREAM),
    [NM_EVENT_STATE_BLOCK] = CALL | BIT(HEAP) | BIT(ADDRESS) | BIT(BLOCK) | BIT(REQUESTED),
    [NM_EVENT_KEYFRAME] = CALL | BIT(HEAP) | BIT(ADDRESS) | BIT(REQUESTED) | BIT(BLOCK) | BIT(POLICY) | BIT(COST) |
                          BIT(NUMBER) | BIT(DETAIL) | BIT(GENERATION) | BIT(POOL) | BIT(ALLOCATION_COUNT) |
                          BIT(ENDED_COUNT) | BIT(MISS_COUNT),
    [NM_EVENT_STEP_TOTAL] = ALWAYS | SUMS | BIT(PROCESS) | BIT(DEVICE) | BIT(NUMBER) | BIT(DETAIL) | BIT(UNTIL) |
                            BIT(GENERATION) | BIT(FIRST_SEQ) | BIT(LAST_SEQ) | BIT(MISS_COUNT) | BIT(LIVE) | BIT(SIZE) |
                            BIT(TOTAL),
    [NM_EVENT_SITE_TOTAL] = ALWAYS | SUMS | BIT(STACK),
    [NM_EVENT_HEAP_TOTAL] =
        ALWAYS | SUMS | BIT(DEVICE) | BIT(DETAIL) | BIT(NUMBER) | BIT(SIZE) | BIT(MISS_COUNT) | BIT(LIVE),
};

const uint16_t nm_event_field_offsets[NM_FIELD_COUNT] = {
    [NM_FIELD_TIME] = offsetof(nm_event, time_ns),
    [NM_FIELD_FLAGS] = offsetof(nm_event, flags),
    [NM_FIELD_THREAD] = offsetof(nm_event, thread_id),
    [NM_FIELD_HEAP] = offsetof(nm_event, heap_id),
    [NM_FIELD_ADDRESS] = offsetof(nm_event, address),
    [NM_FIELD_REQUESTED] = offsetof(nm_event, requested_bytes),
    [NM_FIELD_BLOCK] = offsetof(nm_event, block_bytes),
    [NM_FIELD_STACK] = offsetof(nm_event, stack_id),
    [NM_FIELD_STREAM] = offsetof(nm_event, stream),
    [NM_FIELD_POLICY] = offsetof(nm_event, policy),
    [NM_FIELD_COST] = offsetof(nm_event, cost_ns),
    [NM_FIELD_ERROR] = offsetof(nm_event, error_code),
    [NM_FIELD_NAME] = offsetof(nm_event, name_id),
    [NM_FIELD_NUMBER] = offsetof(nm_event, number),
    [NM_FIELD_DETAIL] = offsetof(nm_event, detail),
    [NM_FIELD_DEVICE] = offsetof(nm_event, device_id),
    [NM_FIELD_SOURCE_ADDRESS] = offsetof(nm_event, source_address),
    [NM_FIELD_SIZE] = offsetof(nm_event, size_bytes),
    [NM_FIELD_LIMIT] = offsetof(nm_event, limit_bytes),
    [NM_FIELD_FREE] = offsetof(nm_event, free_bytes),
    [NM_FIELD_TOTAL] = offsetof(nm_event, total_bytes),
    [NM_FIELD_UNTIL] = offsetof(nm_event, until_ns),
    [NM_FIELD_MODEL] = offsetof(nm_event, model_id),
    [NM_FIELD_PROCESS] = offsetof(nm_event, process_id),
    [NM_FIELD_ALLOCATION_COUNT] = offsetof(nm_event, count),
    [NM_FIELD_ENDED_COUNT] = offsetof(nm_event, ended_count),
    [NM_FIELD_MISS_COUNT] = offsetof(nm_event, miss_count),
    [NM_FIELD_LIVE] = offsetof(nm_event, live_bytes),
    [NM_FIELD_LIVE_COUNT] = offsetof(nm_event, live_count),
    [NM_FIELD_PEAK] = offsetof(nm_event, peak_bytes),
    [NM_FIELD_GENERATION] = offsetof(nm_event, generation),
    [NM_FIELD_FIRST_SEQ] = offsetof(nm_event, first_seq),
    [NM_FIELD_LAST_SEQ] = offsetof(nm_event, last_seq),
    [NM_FIELD_POOL] = offsetof(nm_event, pool_id),
};

uint64_t nm_event_fields(nm_event_kind kind)
{
    return (unsigned)kind <= NM_EVENT_KIND_MAX ? fields_of_kind[kind] : 0;
}
