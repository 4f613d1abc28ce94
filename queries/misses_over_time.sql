-- misses_over_time.sql: when pools had to grow: a warm-up, or all the time?
-- Parameters: :parts  parts that the trace is cut into, by events (default 20)
-- Columns:    heap name; part from 0; first_seq place of its first allocation in the order of events; allocation_count
--             blocks;
--             miss_count of them for which the pool had to grow; hit_rate 0 to 1
WITH
    span (first_seq, last_seq, part_count) AS (
        SELECT min(input.first_seq), max(input.last_seq), max(1, coalesce(:parts, 20)) FROM input
    ),
    block (heap_id, part, alloc_seq, is_miss) AS (
        SELECT
            allocation.heap_id,
            (allocation.alloc_seq - span.first_seq) * span.part_count / (span.last_seq - span.first_seq + 1),
            allocation.alloc_seq,
            allocation.is_miss
        FROM allocation
        CROSS JOIN span
        WHERE allocation.is_miss IS NOT NULL AND allocation.alloc_seq IS NOT NULL
    )
SELECT
    z_heap_place.heap AS heap,
    block.part AS part,
    min(block.alloc_seq) AS first_seq,
    count(*) AS allocation_count,
    sum(block.is_miss) AS miss_count,
    1.0 - CAST(sum(block.is_miss) AS REAL) / count(*) AS hit_rate
FROM block
JOIN z_heap_place ON z_heap_place.heap_id = block.heap_id
GROUP BY block.heap_id, block.part
ORDER BY block.heap_id, block.part
-- begin guard :parts; -1
LIMIT CASE
    WHEN :parts IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
