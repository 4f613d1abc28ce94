-- misses_after_warm_up.sql: which requests made a pool grow although the program was warm, the last first.
-- Parameters: :warm_up  steps of each process that are its warm-up (default: as view warm_up says)
--             :top      rows to return (default 20)
-- Columns:    heap name; step number, as the program counts; seq place in the order of events; ns nanoseconds, NULL where
--             unknown; size_bytes bytes; cause why the pool had to grow (view pool_miss_by_cause), NULL where unknown;
--             driver_cost_ns what the driver took for it, nanoseconds, NULL where unknown; site file, line and function
SELECT
    heap_place.heap AS heap,
    step.number AS step,
    pool_miss.seq AS seq,
    pool_miss.ns AS ns,
    pool_miss.size_bytes AS size_bytes,
    miss_cause.name AS cause,
    pool_miss.driver_cost_ns AS driver_cost_ns,
    coalesce(frame.label, '(no stack)') AS site
FROM pool_miss
JOIN heap_place ON heap_place.heap_id = pool_miss.heap_id
JOIN warm_up ON warm_up.process_id = heap_place.process_id
LEFT JOIN step ON step.process_id = heap_place.process_id AND step.generation = pool_miss.generation
LEFT JOIN miss_cause ON miss_cause.cause = pool_miss.cause
LEFT JOIN stack ON stack.stack_id = pool_miss.stack_id
LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
WHERE pool_miss.generation > coalesce(:warm_up, warm_up.warm_up_count)
ORDER BY pool_miss.seq DESC, pool_miss.heap_id
LIMIT CASE
    WHEN coalesce(:top, :warm_up) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
