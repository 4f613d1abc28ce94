-- pending_misses.sql: which requests made a pool grow while memory that would have served them waited for another stream.
-- Parameters: :top    rows to return (default 20)
-- Columns:    heap name; miss_count misses of the site that memory given up and not yet reusable would have served;
--             missed_bytes the size of all misses of the site and cause, bytes; cause why the pool had to grow (view
--             pool_miss_by_cause), NULL where unknown; site file, line and function
SELECT
    heap_place.heap AS heap,
    sum(pool_miss_sum.pending_miss_count) AS miss_count,
    sum(pool_miss_sum.missed_bytes) AS missed_bytes,
    miss_cause.name AS cause,
    coalesce(frame.label, '(no stack)') AS site
FROM pool_miss_sum
JOIN heap_place ON heap_place.heap_id = pool_miss_sum.heap_id
LEFT JOIN miss_cause ON miss_cause.cause = pool_miss_sum.cause
LEFT JOIN stack ON stack.stack_id = pool_miss_sum.stack_id
LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
GROUP BY pool_miss_sum.heap_id, stack.site_frame_id, pool_miss_sum.cause
HAVING sum(pool_miss_sum.pending_miss_count) > 0
ORDER BY miss_count DESC, pool_miss_sum.heap_id, stack.site_frame_id, pool_miss_sum.cause
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
