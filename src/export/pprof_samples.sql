-- pprof_samples.sql: of each heap, stack, stream and category what was ever allocated, what was live at a moment and at
-- the peak, and what leaked; and labels, as texts.
-- With: live_places.part.sql
-- With: live.part.sql
WITH
    row (
        heap_id, stack_id, is_baseline, stream, category_id,
        alloc_count, alloc_bytes, live_count, live_bytes, peak_bytes, leak_bytes
    ) AS (
        SELECT heap_id, stack_id, 0, NULL, NULL, allocation_count, allocated_bytes, 0, 0, 0, 0
        FROM z_stack_sum
        UNION ALL
        SELECT heap_id, stack_id, is_baseline, stream, category_id, 0, 0, live_count, live_bytes, 0, 0
        FROM live
        UNION ALL
        SELECT heap_id, stack_id, is_baseline, NULL, NULL, 0, 0, 0, 0, live_bytes, 0
        FROM z_peak_stack
        UNION ALL
        SELECT heap_id, stack_id, 0, NULL, NULL, 0, 0, 0, 0, 0, leak_count * size_bytes
        FROM z_leaked_sum
    )
SELECT
    r.stack_id AS stack_id,
    r.is_baseline AS is_baseline,
    sum(r.alloc_count) AS alloc_count,
    sum(r.alloc_bytes) AS alloc_bytes,
    sum(r.live_count) AS live_count,
    sum(r.live_bytes) AS live_bytes,
    sum(r.peak_bytes) AS peak_bytes,
    sum(r.leak_bytes) AS leak_bytes,
    p.heap AS heap,
    p.level AS level,
    p.device AS device_name,
    p.rank AS rank_name,
    p.pid AS pid_name,
    r.stream AS stream_name,
    c.name AS category
FROM row AS r
JOIN place AS p ON p.heap_id = r.heap_id
LEFT JOIN z_category AS c ON c.category_id = r.category_id
GROUP BY r.heap_id, r.stack_id, r.is_baseline, r.stream, r.category_id
ORDER BY r.heap_id, r.stack_id, r.is_baseline, r.stream, r.category_id;
