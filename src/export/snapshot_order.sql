-- snapshot_order.sql: where allocations begin, in the order of their rows, and whether one of their ends comes before that.
-- With: snapshot_devices.part.sql
SELECT
    own.number AS device,
    a.alloc_seq AS alloc_seq,
    coalesce(a.free_seq < a.alloc_seq, 0) OR coalesce(a.free_requested_seq < a.alloc_seq, 0) AS is_contrary
FROM allocation AS a
CROSS JOIN own ON own.heap_id = a.heap_id
ORDER BY a.allocation_id;
