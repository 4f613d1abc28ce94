-- short_lived.sql: which sites allocate much that lives shortly: what could be kept and used again, or be one buffer?
-- Parameters: :life_ns half of a site's freed blocks live no longer than this, nanoseconds (default 10000000: 10 ms)
--             :bytes  mean size of its allocations at least, bytes (default 65536)
--             :top    rows to return (default 20)
-- Columns:    heap name, or 'error: ...' where none of the parameters that are set is one of these; site file, line and
--             function, or '(no stack)'; allocation_count allocations; allocated_bytes in all, bytes; mean_bytes of one, bytes;
--             freed_count of them freed; median_at_most_ns half of these lived no longer, a power of two, nanoseconds;
--             p99_at_most_ns 99 % lived no longer, likewise; max_ns the longest life, nanoseconds; max_steps most steps that
--             began in one life. Most bytes first
WITH
    site_sum (heap_id, site_frame_id, allocation_count, allocated_bytes) AS (
        SELECT
            t.heap_id,
            s.site_frame_id,
            sum(t.allocation_count),
            sum(t.allocated_bytes)
        FROM z_stack_sum AS t
        LEFT JOIN stack AS s ON s.stack_id = t.stack_id
        GROUP BY t.heap_id, s.site_frame_id
    ),
    fault (text) AS (
        -- begin no_parameter :life_ns, :bytes or :top; :life_ns, :bytes, :top
        SELECT 'error: parameters are set, but none of them is :life_ns, :bytes or :top'
        WHERE coalesce(:life_ns, :bytes, :top) IS NULL
            AND EXISTS (SELECT 1 FROM sqlite_temp_master AS m WHERE m.name = 'sqlite_parameters')
        -- end no_parameter
    )
SELECT
    r.heap AS heap,
    r.site AS site,
    r.allocation_count AS allocation_count,
    r.allocated_bytes AS allocated_bytes,
    r.mean_bytes AS mean_bytes,
    r.freed_count AS freed_count,
    r.median_at_most_ns AS median_at_most_ns,
    r.p99_at_most_ns AS p99_at_most_ns,
    r.max_ns AS max_ns,
    r.max_steps AS max_steps
FROM (
    SELECT
        t.text AS heap,
        NULL AS site,
        NULL AS allocation_count,
        NULL AS allocated_bytes,
        NULL AS mean_bytes,
        NULL AS freed_count,
        NULL AS median_at_most_ns,
        NULL AS p99_at_most_ns,
        NULL AS max_ns,
        NULL AS max_steps,
        NULL AS heap_id
    FROM fault AS t
    UNION ALL
    SELECT
        p.heap,
        coalesce(f.label, '(no stack)'),
        g.allocation_count,
        g.allocated_bytes,
        CAST(g.allocated_bytes AS REAL) / g.allocation_count,
        w.freed_count,
        w.median_at_most_ns,
        w.p99_at_most_ns,
        w.max_ns,
        w.max_steps,
        g.heap_id
    FROM site_sum AS g
    JOIN z_site_lifetime AS w ON w.heap_id = g.heap_id AND w.site_frame_id IS g.site_frame_id
    JOIN z_heap_place AS p ON p.heap_id = g.heap_id
    LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
    WHERE w.median_at_most_ns <= coalesce(:life_ns, 10000000)
        AND g.allocated_bytes >= g.allocation_count * coalesce(:bytes, 65536)
        AND g.allocation_count > 0
        AND NOT EXISTS (SELECT 1 FROM fault)
) AS r
ORDER BY r.allocated_bytes DESC, r.heap_id, r.site
LIMIT coalesce(:top, 20);
