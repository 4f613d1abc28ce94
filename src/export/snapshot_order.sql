-- snapshot_order.sql: where allocations begin, in the order of their rows, and whether one of their ends comes before that.
SELECT
    heap_id,
    alloc_seq,
    coalesce(free_seq < alloc_seq, 0) OR coalesce(free_requested_seq < alloc_seq, 0) AS is_contrary
FROM allocation
ORDER BY allocation_id;
