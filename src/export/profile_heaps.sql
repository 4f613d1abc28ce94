-- profile_heaps.sql: heaps that have memory, and when a moment was for each.
SELECT
    n.heap_id AS heap_id,
    max(coalesce(n.ns, n.seq * 1000, 0), 0) AS ns
FROM z_named_moment AS n
JOIN z_heap_sum AS s ON s.heap_id = n.heap_id
WHERE n.moment = :moment AND s.peak_bytes > 0;
