-- miss_costs.sql: what did it cost that a pool had to grow, by cause and site, and how much of that is not the warm-up?
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; heap name; cause why the pool had to grow (view pool_by), NULL where unknown; site
--             file, line and function; miss_count misses; missed_bytes their size, bytes; warm_count of them after
--             the warm-up (the first two steps; 0 where no steps are known), misses; driver_ns time in the driver for them,
--             nanoseconds; ns_per_miss that of one, nanoseconds; share_ratio of the time in the driver for all misses of
--             the pool, 0 to 1, NULL where no cost is known
SELECT
    p.pid AS pid,
    p.heap AS heap,
    c.name AS cause,
    coalesce(f.label, '(no stack)') AS site,
    m.miss_count AS miss_count,
    m.missed_bytes AS missed_bytes,
    m.warm_count AS warm_count,
    m.driver_ns AS driver_ns,
    m.driver_ns / m.miss_count AS ns_per_miss,
    CASE WHEN t.driver_ns > 0 THEN CAST(m.driver_ns AS REAL) / t.driver_ns END AS share_ratio
FROM (
    SELECT
        x.heap_id,
        x.cause,
        s.site_frame_id,
        sum(x.miss_count) AS miss_count,
        sum(x.missed_bytes) AS missed_bytes,
        coalesce(sum(CASE u.warm_up_count WHEN 1 THEN x.after_one_count WHEN 2 THEN x.after_two_count END), 0) AS warm_count,
        sum(x.driver_cost_ns) AS driver_ns
    FROM z_pool_miss_sum AS x
    JOIN heap AS o ON o.heap_id = x.heap_id
    LEFT JOIN z_warm_up AS u ON u.process_id = o.process_id
    LEFT JOIN stack AS s ON s.stack_id = x.stack_id
    GROUP BY x.heap_id, x.cause, s.site_frame_id
) AS m
JOIN (
    SELECT
        y.heap_id,
        sum(y.driver_cost_ns) AS driver_ns
    FROM z_pool_miss_sum AS y
    GROUP BY y.heap_id
) AS t ON t.heap_id = m.heap_id
JOIN z_heap_place AS p ON p.heap_id = m.heap_id
LEFT JOIN z_miss_cause AS c ON c.cause = m.cause
LEFT JOIN frame AS f ON f.frame_id = m.site_frame_id
ORDER BY m.driver_ns DESC, m.miss_count DESC, m.heap_id, m.cause, m.site_frame_id
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
