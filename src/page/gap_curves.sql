-- gap_curves.sql: gaps of pools over time, heap after heap, with how many rows there are of each.
SELECT
    u.heap_id AS heap_id,
    u.last_seq AS last_seq,
    u.last_ns AS last_ns,
    u.reserved_bytes AS reserved_bytes,
    u.free_bytes AS free_bytes,
    u.stuck_bytes AS stuck_bytes,
    u.largest_free_bytes AS largest_free_bytes,
    n.row_count AS row_count
FROM z_fragmentation_usage AS u
JOIN (
    SELECT heap_id, count(*) AS row_count
    FROM z_fragmentation_usage
    WHERE part_id IS NULL
    GROUP BY heap_id
) AS n ON n.heap_id = u.heap_id
WHERE u.part_id IS NULL
ORDER BY u.heap_id, u.last_seq;
