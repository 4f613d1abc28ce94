-- check_misses.sql: misses of the worst step after the warm-up, of pools whose misses are known. Joined steps of a long
-- recording count as so many.
-- Rows as: check_peaks.sql
SELECT
    p.host AS host,
    p.rank AS rank,
    p.pid AS pid,
    p.device AS device,
    p.heap AS heap,
    p.level AS level,
    coalesce(max(CAST(s.miss_count AS REAL) / (s.last_generation - s.generation + 1)), 0) AS measured_value,
    NULL AS limit_value,
    CASE WHEN s.miss_count > 0 THEN 'in step ' || s.number END AS note
FROM z_heap_place AS p
JOIN z_warm_up AS w ON w.process_id = p.process_id
LEFT JOIN z_step_sum AS s ON s.heap_id = p.heap_id AND s.generation > w.warm_up_count
WHERE p.level = 'pool'
    AND w.step_count > w.warm_up_count
    AND (:rank IS NULL OR p.rank IS :rank)
    AND (:heap IS NULL OR p.heap IS :heap OR p.level IS :heap)
GROUP BY p.heap_id
HAVING count(s.heap_id) = count(s.miss_count);
