-- screen_facts.sql: what several groups of lines of the screen need to know of a run.
SELECT
    (SELECT count(*) FROM process) AS process_count,
    (
        SELECT count(DISTINCT process_id)
        FROM z_heap_sum
        JOIN heap USING (heap_id)
        WHERE peak_bytes > 0
    ) AS holder_count,
    (
        SELECT count(DISTINCT process_id)
        FROM z_heap_sum
        JOIN heap USING (heap_id)
        WHERE peak_bytes > 0 AND device_id IS NOT NULL
    ) AS device_holder_count,
    (SELECT count(*) FROM (SELECT DISTINCT host, device FROM z_heap_place WHERE device IS NOT NULL)) AS device_count,
    coalesce((SELECT max(n) FROM (SELECT count(*) AS n FROM step GROUP BY process_id)), 0) AS step_count,
    (SELECT count(DISTINCT rank) > 1 FROM process) AS has_ranks,
    (SELECT coalesce(sum(allocation_count + free_count) = 0 AND sum(baseline_count) > 0, 0) FROM z_heap_sum) AS is_listed,
    (SELECT upper(max(kind)) FROM device) AS device_kind;
