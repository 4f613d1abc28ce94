-- by_step.sql: what each step allocated, freed, and left behind, and how often its pools had to grow.
-- Parameters: :top    rows to return (default 1000)
-- Columns:    pid process; step number; heap name; allocation_count allocations; allocated_bytes bytes; miss_count blocks for
--             which a pool had to grow; left_count, left_bytes of them not freed by the end of the step, allocations and bytes,
--             NULL of steps of which only sums were kept
SELECT
    z_heap_place.pid AS pid,
    s.number AS step,
    z_heap_place.heap AS heap,
    s.allocation_count AS allocation_count,
    s.allocated_bytes AS allocated_bytes,
    coalesce(s.miss_count, 0) AS miss_count,
    s.left_count AS left_count,
    s.left_bytes AS left_bytes
FROM z_step_sum AS s
JOIN z_heap_place ON z_heap_place.heap_id = s.heap_id
WHERE s.allocation_count > 0 AND s.number IS NOT NULL
ORDER BY z_heap_place.input_id, s.begin_seq, s.heap_id
-- begin guard :top; coalesce(:top, 1000)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
