-- fragmentation_over_time.sql: how badly was each pool cut up, from part to part of the recording, and when was it worst?
-- Parameters: :parts  parts that the recording is cut into, by events (default 20)
-- Columns:    pid process; heap name; part from 0; first_seq place of its first event in the order of events; end_ns when
--             it ended, nanoseconds, NULL where unknown; reserved_bytes most that was reserved in it, bytes;
--             max_free_bytes most that was free of it, bytes; max_stuck_bytes most that was inactive split (free in
--             segments that hold something), bytes, NULL where that is not known; stuck_ratio that over reserved_bytes, 0 to 1;
--             min_largest_bytes least that the largest free range had, bytes; is_worst 1 in the first part with the most
--             max_stuck_bytes of all; worst_seq, worst_ns where in this part that was, place in the order of events
--             and nanoseconds; is_exact 0 where sizes are estimates, or events were lost or not seen
SELECT
    p.pid AS pid,
    p.heap AS heap,
    g.part AS part,
    g.first_seq AS first_seq,
    g.end_ns AS end_ns,
    g.reserved_bytes AS reserved_bytes,
    g.max_free_bytes AS max_free_bytes,
    g.max_stuck_bytes AS max_stuck_bytes,
    CASE WHEN g.reserved_bytes > 0 THEN CAST(g.max_stuck_bytes AS REAL) / g.reserved_bytes END AS stuck_ratio,
    g.min_largest_bytes AS min_largest_bytes,
    coalesce(w.max_stuck_seq BETWEEN g.first_seq AND g.last_seq, 0) AS is_worst,
    (
        SELECT min(u.max_stuck_seq)
        FROM z_fragmentation_usage AS u
        WHERE u.heap_id = g.heap_id AND u.part_id IS NULL
            AND u.max_stuck_bytes = g.max_stuck_bytes
            AND u.first_seq BETWEEN g.first_seq AND g.last_seq
    ) AS worst_seq,
    (
        SELECT min(u.max_stuck_ns)
        FROM z_fragmentation_usage AS u
        WHERE u.heap_id = g.heap_id AND u.part_id IS NULL
            AND u.max_stuck_bytes = g.max_stuck_bytes
            AND u.first_seq BETWEEN g.first_seq AND g.last_seq
    ) AS worst_ns,
    g.is_exact AS is_exact
FROM (
    SELECT
        u.heap_id,
        (u.first_seq - e.first_seq) * coalesce(:parts, 20) / (e.last_seq - e.first_seq + 1) AS part,
        min(u.first_seq) AS first_seq,
        max(u.last_seq) AS last_seq,
        max(u.last_ns) AS end_ns,
        max(u.max_reserved_bytes) AS reserved_bytes,
        max(u.max_free_bytes) AS max_free_bytes,
        max(u.max_stuck_bytes) AS max_stuck_bytes,
        min(u.min_largest_free_bytes) AS min_largest_bytes,
        max(u.is_estimate + u.is_doubtful + u.is_partial) = 0 AS is_exact
    FROM z_fragmentation_usage AS u
    JOIN (
        SELECT
            x.heap_id,
            min(x.first_seq) AS first_seq,
            max(x.last_seq) AS last_seq
        FROM z_fragmentation_usage AS x
        WHERE x.part_id IS NULL
        GROUP BY x.heap_id
    ) AS e ON e.heap_id = u.heap_id
    WHERE u.part_id IS NULL
    GROUP BY u.heap_id, (u.first_seq - e.first_seq) * coalesce(:parts, 20) / (e.last_seq - e.first_seq + 1)
) AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN (
    SELECT
        u.heap_id,
        min(u.max_stuck_seq) AS max_stuck_seq
    FROM z_fragmentation_usage AS u
    JOIN (
        SELECT
            x.heap_id,
            max(x.max_stuck_bytes) AS bytes
        FROM z_fragmentation_usage AS x
        WHERE x.part_id IS NULL
        GROUP BY x.heap_id
    ) AS m ON m.heap_id = u.heap_id AND m.bytes = u.max_stuck_bytes AND m.bytes > 0
    WHERE u.part_id IS NULL
    GROUP BY u.heap_id
) AS w ON w.heap_id = g.heap_id
ORDER BY g.heap_id, g.part
-- begin guard :parts; -1
LIMIT CASE
    WHEN :parts IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
