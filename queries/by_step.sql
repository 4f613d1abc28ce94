-- by_step.sql: what each step allocated, freed, and left behind, and how often its pools had to grow.
-- Parameters: :top    rows to return (default 1000)
-- Columns:    pid process; step number; heap name; allocation_count allocations; allocated_bytes bytes; miss_count
--             blocks for
--             which a pool had to grow; left_count, left_bytes of them not freed by the end of the step, allocations
--             and bytes
SELECT
    process.pid AS pid,
    step.number AS step,
    heap_place.heap AS heap,
    count(*) AS allocation_count,
    sum(allocation.size_bytes) AS allocated_bytes,
    coalesce(sum(allocation.is_miss), 0) AS miss_count,
    sum(allocation.free_seq IS NULL OR allocation.free_seq >= step.end_seq) AS left_count,
    sum(CASE
        WHEN allocation.free_seq IS NULL OR allocation.free_seq >= step.end_seq THEN allocation.size_bytes
        ELSE 0
    END) AS left_bytes
FROM step
JOIN process ON process.process_id = step.process_id
JOIN heap_place ON heap_place.process_id = step.process_id
JOIN allocation
    ON allocation.heap_id = heap_place.heap_id
    AND allocation.alloc_seq >= step.begin_seq
    AND (step.end_seq IS NULL OR allocation.alloc_seq < step.end_seq)
GROUP BY step.step_id, heap_place.heap_id
ORDER BY step.step_id, heap_place.heap_id
LIMIT coalesce(:top, 1000);
