-- by_step.sql: what each step allocated, freed, and left behind, and how often its pools had to grow.
-- Parameters: :top    rows to return (default 1000)
-- Columns:    pid process; step number; heap name; allocation_count allocations; allocated_bytes bytes; miss_count
--             blocks for
--             which a pool had to grow; left_count, left_bytes of them not freed by the end of the step, allocations
--             and bytes
WITH
    born (step_id, heap_id, size_bytes, is_miss, alloc_seq, free_seq) AS (
        SELECT
            (
                SELECT step.step_id
                FROM step
                WHERE step.process_id = heap.process_id AND step.begin_seq <= allocation.alloc_seq
                ORDER BY step.begin_seq DESC
                LIMIT 1
            ),
            allocation.heap_id,
            allocation.size_bytes,
            allocation.is_miss,
            allocation.alloc_seq,
            coalesce(allocation.free_seq, 9223372036854775807)
        FROM allocation
        JOIN heap ON heap.heap_id = allocation.heap_id
        WHERE allocation.alloc_seq IS NOT NULL
    )
SELECT
    z_heap_place.pid AS pid,
    step.number AS step,
    z_heap_place.heap AS heap,
    count(*) AS allocation_count,
    sum(born.size_bytes) AS allocated_bytes,
    coalesce(sum(born.is_miss), 0) AS miss_count,
    sum(born.free_seq >= coalesce(step.end_seq, 9223372036854775807)) AS left_count,
    sum(CASE
        WHEN born.free_seq >= coalesce(step.end_seq, 9223372036854775807) THEN born.size_bytes
        ELSE 0
    END) AS left_bytes
FROM born
JOIN step ON step.step_id = born.step_id
JOIN z_heap_place ON z_heap_place.heap_id = born.heap_id
WHERE born.alloc_seq < coalesce(step.end_seq, 9223372036854775807)
GROUP BY born.step_id, born.heap_id
ORDER BY born.step_id, born.heap_id
-- begin guard :top; coalesce(:top, 1000)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
