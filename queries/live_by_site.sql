-- live_by_site.sql: what a heap was made of at a moment, by site, largest first.
-- Parameters: :at_seq moment as a place in the order of events (default: the end of the trace)
--             :top    rows to return (default 50)
-- Columns:    heap name; site file, line and function, or (baseline); live_count allocations; live_bytes bytes
SELECT
    heap_place.heap AS heap,
    CASE WHEN allocation.alloc_seq IS NULL THEN '(baseline)' ELSE coalesce(frame.label, '(no stack)') END AS site,
    count(*) AS live_count,
    sum(allocation.size_bytes) AS live_bytes
FROM allocation
JOIN heap_place ON heap_place.heap_id = allocation.heap_id
LEFT JOIN stack ON stack.stack_id = allocation.stack_id
LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
WHERE (:at_seq IS NULL OR allocation.alloc_seq IS NULL OR allocation.alloc_seq <= :at_seq)
    AND (allocation.end_kind = 0 OR allocation.free_seq > :at_seq)
GROUP BY allocation.heap_id, site
ORDER BY allocation.heap_id, live_bytes DESC, site
LIMIT coalesce(:top, 50);
