-- misses_after_warm_up.sql: which requests made a pool grow although the program was warm, the last first.
-- Parameters: :warm_up  steps of each process that are its warm-up (default: the first two, of two the first)
--             :top      rows to return (default 20)
-- Columns:    heap name; step number, as the program counts; seq place in the order of events; ns nanoseconds, NULL where
--             unknown; size_bytes bytes; cause why the pool had to grow (view pool_by), NULL where unknown;
--             driver_cost_ns what the driver took for it, nanoseconds, NULL where unknown; site file, line and function
SELECT
    z_heap_place.heap AS heap,
    step.number AS step,
    z_pool_miss.seq AS seq,
    z_pool_miss.ns AS ns,
    z_pool_miss.size_bytes AS size_bytes,
    z_miss_cause.name AS cause,
    z_pool_miss.driver_cost_ns AS driver_cost_ns,
    coalesce(frame.label, '(no stack)') AS site
FROM z_pool_miss
JOIN z_heap_place ON z_heap_place.heap_id = z_pool_miss.heap_id
JOIN z_warm_up ON z_warm_up.process_id = z_heap_place.process_id
LEFT JOIN step ON step.process_id = z_heap_place.process_id AND step.generation = z_pool_miss.generation
LEFT JOIN z_miss_cause ON z_miss_cause.cause = z_pool_miss.cause
LEFT JOIN stack ON stack.stack_id = z_pool_miss.stack_id
LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
WHERE z_pool_miss.generation > coalesce(:warm_up, z_warm_up.warm_up_count)
ORDER BY z_pool_miss.seq DESC, z_pool_miss.heap_id
-- begin guard coalesce(:top, :warm_up); coalesce(:top, 20)
LIMIT CASE
    WHEN coalesce(:top, :warm_up) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
