-- block_sizes.sql: which block sizes are worth keeping ready in a pool, and how many of each?
-- A size is what was handed out, or else what was asked for in multiples of 512 bytes.
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; heap name; block_bytes size, bytes; request_count requests, allocations; request_ratio of all
--             requests of the heap, 0 to 1; mean_live_count how many such blocks were live at a time, on the average over
--             the timeline of the heap, NULL where times are not known; place_count addresses at which such blocks were:
--             more than that are not needed; again_count requests beyond these, which as many blocks would have served
--             at once; mean_life_ns how long freed ones lived, nanoseconds, NULL where unknown.
--             Sizes of which no place is handed out again are left out. Of a heap with very many addresses it needs the rows
--             of all allocations (input.detail 'all')
SELECT
    p.pid AS pid,
    p.heap AS heap,
    g.block_bytes AS block_bytes,
    g.request_count AS request_count,
    CAST(g.request_count AS REAL) / h.allocation_count AS request_ratio,
    CASE
        WHEN e.last_ns > e.first_ns
            THEN CAST(g.life_ns + g.live_count * e.last_ns - g.live_begin_ns AS REAL) / (e.last_ns - e.first_ns)
    END AS mean_live_count,
    g.place_count AS place_count,
    g.request_count - g.place_count AS again_count,
    g.life_ns / g.timed_count AS mean_life_ns
FROM (
    SELECT
        a.heap_id,
        a.block_bytes,
        sum(a.request_count) AS request_count,
        count(*) AS place_count,
        sum(a.life_ns) AS life_ns,
        sum(a.timed_count) AS timed_count,
        sum(a.live_count) AS live_count,
        sum(a.live_begin_ns) AS live_begin_ns
    FROM (
        SELECT
            b.heap_id,
            coalesce(b.block_bytes, (b.size_bytes + 511) / 512 * 512) AS block_bytes,
            count(*) AS request_count,
            coalesce(sum(b.free_ns - b.alloc_ns), 0) AS life_ns,
            count(b.free_ns - b.alloc_ns) AS timed_count,
            sum(b.free_seq IS NULL AND b.alloc_ns IS NOT NULL) AS live_count,
            coalesce(sum(CASE WHEN b.free_seq IS NULL THEN b.alloc_ns END), 0) AS live_begin_ns
        FROM z_block_size AS t
        CROSS JOIN z_birth_part AS y ON y.heap_id = t.heap_id AND y.is_long = 0
        CROSS JOIN allocation AS b
            ON b.allocation_id BETWEEN y.first_id AND y.last_id
            AND +b.heap_id = y.heap_id
        WHERE t.block_bytes IS NULL -- too many addresses for a sum
            AND b.alloc_seq IS NOT NULL AND +b.is_segment = 0 AND b.split_from_id IS NULL
        GROUP BY b.heap_id, b.address, coalesce(b.block_bytes, (b.size_bytes + 511) / 512 * 512)
    ) AS a
    GROUP BY a.heap_id, a.block_bytes
    UNION ALL
    SELECT
        z.heap_id,
        z.block_bytes,
        z.request_count,
        z.place_count,
        z.life_ns,
        z.timed_count,
        z.live_count,
        z.live_begin_ns
    FROM z_block_size AS z
    WHERE z.block_bytes IS NOT NULL
) AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
JOIN z_heap_sum AS h ON h.heap_id = g.heap_id
LEFT JOIN (
    SELECT
        u.heap_id,
        min(u.max_ns) AS first_ns,
        max(u.last_ns) AS last_ns
    FROM usage AS u
    GROUP BY u.heap_id
) AS e ON e.heap_id = g.heap_id
WHERE g.request_count > g.place_count
ORDER BY again_count DESC, g.heap_id, g.block_bytes
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
