-- snapshot_rows.sql: the allocations, in the order of their rows, with what snapshot_entries.sql makes entries of; what that
-- asks other tables about them, snapshot_order.c has read before.
SELECT
    allocation_id,
    heap_id,
    alloc_seq,
    alloc_ns,
    address,
    size_bytes,
    coalesce(requested_bytes, size_bytes) AS asked_bytes,
    stream,
    segment_id,
    stack_id,
    coalesce(private_pool, 0) AS pool_id,
    is_segment = 0 AS is_no_segment,
    is_mapped = 1 AS is_mapped,
    is_mapped = 0 AS is_plain,
    split_from_id,
    free_requested_seq,
    CASE WHEN end_kind <> 4 THEN free_seq END AS free_seq,
    free_stack_id,
    free_ns
FROM allocation
ORDER BY allocation_id;
