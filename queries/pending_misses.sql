-- pending_misses.sql: which requests made a pool grow while memory that would have served them waited for another stream.
-- Parameters: :top    rows to return (default 20)
-- Columns:    heap name; miss_count misses of the site that memory given up and not yet reusable would have served;
--             missed_bytes the size of all misses of the site and cause, bytes; cause why the pool had to grow (view
--             pool_by), NULL where unknown; site file, line and function
SELECT
    z_heap_place.heap AS heap,
    sum(z_pool_miss_sum.pending_miss_count) AS miss_count,
    sum(z_pool_miss_sum.missed_bytes) AS missed_bytes,
    z_miss_cause.name AS cause,
    coalesce(frame.label, '(no stack)') AS site
FROM z_pool_miss_sum
JOIN z_heap_place ON z_heap_place.heap_id = z_pool_miss_sum.heap_id
LEFT JOIN z_miss_cause ON z_miss_cause.cause = z_pool_miss_sum.cause
LEFT JOIN stack ON stack.stack_id = z_pool_miss_sum.stack_id
LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
GROUP BY z_pool_miss_sum.heap_id, stack.site_frame_id, z_pool_miss_sum.cause
HAVING sum(z_pool_miss_sum.pending_miss_count) > 0
ORDER BY miss_count DESC, z_pool_miss_sum.heap_id, stack.site_frame_id, z_pool_miss_sum.cause
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
