-- pool_churn.sql: how often does each pool hand out the same memory again, and how soon is it asked for again?
-- Parameters: none
-- Columns:    pid process; heap name; churn_ratio bytes handed out over the most that was live at once; same 'size' (a
--             block of a size that was freed is asked for again) or 'address' (the freed place is handed out again); unit
--             of the distances: 'requests' or 'bytes' that the pool handed out in between; request_count requests that
--             had such a free before them; again_ratio of all requests, 0 to 1; half_within, most_within distance that
--             half, and 90 %, of them do not pass (1 less than a power of two)
SELECT
    p.pid AS pid,
    p.heap AS heap,
    CASE WHEN h.peak_bytes > 0 THEN CAST(h.allocated_bytes AS REAL) / h.peak_bytes END AS churn_ratio,
    CASE g.is_same_address WHEN 1 THEN 'address' ELSE 'size' END AS same,
    CASE g.distance_unit WHEN 1 THEN 'bytes' ELSE 'requests' END AS unit,
    g.request_count AS request_count,
    CASE WHEN h.allocation_count > 0 THEN CAST(g.request_count AS REAL) / h.allocation_count END AS again_ratio,
    (
        SELECT min((1 << r.distance_class) - 1)
        FROM z_pool_reuse AS r
        WHERE r.heap_id = g.heap_id AND r.is_same_address = g.is_same_address AND r.distance_unit = g.distance_unit
            AND 2 * (
                SELECT sum(t.request_count)
                FROM z_pool_reuse AS t
                WHERE t.heap_id = r.heap_id AND t.is_same_address = r.is_same_address
                    AND t.distance_unit = r.distance_unit AND t.distance_class <= r.distance_class
            ) >= g.request_count
    ) AS half_within,
    (
        SELECT min((1 << r.distance_class) - 1)
        FROM z_pool_reuse AS r
        WHERE r.heap_id = g.heap_id AND r.is_same_address = g.is_same_address AND r.distance_unit = g.distance_unit
            AND 10 * (
                SELECT sum(t.request_count)
                FROM z_pool_reuse AS t
                WHERE t.heap_id = r.heap_id AND t.is_same_address = r.is_same_address
                    AND t.distance_unit = r.distance_unit AND t.distance_class <= r.distance_class
            ) >= 9 * g.request_count
    ) AS most_within
FROM (
    SELECT
        u.heap_id,
        u.is_same_address,
        u.distance_unit,
        sum(u.request_count) AS request_count
    FROM z_pool_reuse AS u
    GROUP BY u.heap_id, u.is_same_address, u.distance_unit
) AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
JOIN z_heap_sum AS h ON h.heap_id = g.heap_id
ORDER BY g.heap_id, g.is_same_address, g.distance_unit;
