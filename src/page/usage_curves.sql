-- usage_curves.sql: how heaps were used over time, heap after heap, with how many rows there are of each.
SELECT
    u.heap_id AS heap_id,
    u.first_seq AS first_seq,
    u.last_seq AS last_seq,
    u.last_ns AS last_ns,
    u.max_seq AS max_seq,
    u.max_ns AS max_ns,
    u.max_live_bytes AS max_live_bytes,
    u.live_bytes AS live_bytes,
    u.live_count AS live_count,
    u.reserved_bytes AS reserved_bytes,
    n.row_count AS row_count
FROM usage AS u
JOIN (SELECT heap_id, count(*) AS row_count FROM usage GROUP BY heap_id) AS n ON n.heap_id = u.heap_id
ORDER BY u.heap_id, u.last_seq;
