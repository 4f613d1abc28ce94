-- moment_sites.sql: what was live at a moment, by heap and site, the largest first, of a :rank or of all.
-- With: ../../export/live.part.sql
SELECT
    p.rank AS rank,
    p.pid AS pid,
    p.device AS device,
    p.heap AS heap,
    p.level AS level,
    CASE WHEN l.is_baseline THEN '(baseline)' ELSE coalesce(f.label, '(no stack)') END AS site,
    sum(l.live_count) AS live_count,
    sum(l.live_bytes) AS live_bytes
FROM live AS l
JOIN z_heap_place AS p ON p.heap_id = l.heap_id
LEFT JOIN stack AS s ON s.stack_id = l.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
WHERE :rank IS NULL OR p.rank = :rank
GROUP BY l.heap_id, CASE WHEN l.is_baseline THEN '(baseline)' ELSE coalesce(f.label, '(no stack)') END
ORDER BY l.heap_id, live_bytes DESC, site;
