-- holders.sql: the sites that held most where a request failed, and whether and how fast they leak.
SELECT
    w.live_bytes AS live_bytes,
    w.site AS site,
    w.live_count AS live_count,
    (
        SELECT max(l.late_bytes_per_step)
        FROM leak_by_site AS l
        WHERE l.site = w.site AND l.pid IS w.pid AND l.heap IS w.heap
    ) AS late_bytes_per_step,
    EXISTS (
        SELECT 1
        FROM leak_by_site AS l
        WHERE l.site = w.site AND l.pid IS w.pid AND l.heap IS w.heap
    ) AS is_leak
FROM z_out_of_memory_site AS w
WHERE w.out_of_memory_id = :case_id
    AND w.live_bytes > 0
ORDER BY w.live_bytes DESC, w.site
LIMIT :most_count;
