-- peak_by_thread.sql: which threads had allocated what was live at each heap's peak, largest first.
-- Parameters: none
-- Columns:    heap name; peak_seq place of the peak in the order of events; thread name or number, or what of it is not known:
--             '(before the history)' where it was live already, '(unknown)'; live_count allocations; live_bytes bytes. Needs
--             the rows of all allocations (input.detail 'all')
SELECT
    z_heap_place.heap AS heap,
    z_heap_sum.peak_seq AS peak_seq,
    CASE
        WHEN allocation.alloc_seq IS NULL THEN '(before the history)'
        ELSE coalesce(thread.name, CAST(thread.tid AS TEXT), '(unknown)')
    END AS thread,
    count(*) AS live_count,
    sum(allocation.size_bytes) AS live_bytes
FROM z_heap_sum
JOIN z_heap_place ON z_heap_place.heap_id = z_heap_sum.heap_id
JOIN allocation
    ON allocation.heap_id = z_heap_sum.heap_id
    AND (allocation.alloc_seq IS NULL OR allocation.alloc_seq <= z_heap_sum.peak_seq)
    AND (allocation.free_seq IS NULL OR allocation.free_seq > z_heap_sum.peak_seq)
LEFT JOIN thread ON thread.thread_id = allocation.thread_id
GROUP BY z_heap_sum.heap_id, CASE WHEN allocation.alloc_seq IS NULL THEN -1 ELSE allocation.thread_id END
ORDER BY z_heap_sum.heap_id, live_bytes DESC, thread;
