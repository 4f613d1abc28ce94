-- misses_over_time.sql: when pools had to grow: a warm-up, or all the time?
-- Parameters: :parts  parts that the trace is cut into, by events (default 20)
-- Columns:    heap name; part from 0; first_seq place of its first allocation in the order of events; allocation_count
--             blocks;
--             miss_count of them for which the pool had to grow; hit_rate 0 to 1
WITH
    span (first_seq, last_seq, part_count) AS (
        SELECT min(input.first_seq), max(input.last_seq), max(1, coalesce(:parts, 20)) FROM input
    ),
    -- Parts of 2^n events, of which each counts for that in which it begins.
    block (heap_id, part, first_seq, allocation_count, miss_count) AS (
        SELECT
            h.heap_id,
            (max(h.begin_seq, span.first_seq) - span.first_seq) * span.part_count / (span.last_seq - span.first_seq + 1),
            h.first_seq,
            h.allocation_count,
            h.miss_count
        FROM z_hit_part AS h
        CROSS JOIN span
    )
SELECT
    z_heap_place.heap AS heap,
    block.part AS part,
    min(block.first_seq) AS first_seq,
    sum(block.allocation_count) AS allocation_count,
    sum(block.miss_count) AS miss_count,
    1.0 - CAST(sum(block.miss_count) AS REAL) / sum(block.allocation_count) AS hit_rate
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
