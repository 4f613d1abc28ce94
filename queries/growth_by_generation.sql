-- growth_by_generation.sql: how many bytes of each generation (step, or twentieth of the trace) are still live, by
--             site.
-- Parameters: :top    sites to show, by outstanding bytes (default 10)
-- Columns:    heap name; site file, line and function; generation step or twentieth; live_count allocations;
--             live_bytes bytes
WITH
    live (heap_id, site, generation, size_bytes) AS (
        SELECT
            allocation.heap_id,
            coalesce(frame.label, '(no stack)'),
            allocation.generation,
            allocation.size_bytes
        FROM allocation
        LEFT JOIN stack ON stack.stack_id = allocation.stack_id
        LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
        WHERE allocation.is_segment = 0 AND allocation.generation IS NOT NULL
    ),
    leading (heap_id, site) AS (
        SELECT live.heap_id, live.site
        FROM live
        GROUP BY live.heap_id, live.site
        ORDER BY sum(live.size_bytes) DESC, live.heap_id, live.site
        LIMIT coalesce(:top, 10)
    )
SELECT
    z_heap_place.heap AS heap,
    live.site AS site,
    live.generation AS generation,
    count(*) AS live_count,
    sum(live.size_bytes) AS live_bytes
FROM live
JOIN leading ON leading.heap_id = live.heap_id AND leading.site = live.site
JOIN z_heap_place ON z_heap_place.heap_id = live.heap_id
GROUP BY live.heap_id, live.site, live.generation
ORDER BY live.heap_id, live.site, live.generation
-- begin guard :top; -1
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
