-- peak_by_thread.sql: which threads had allocated what was live at each heap's peak, largest first.
-- Parameters: none
-- Columns:    heap name; peak_seq place of the peak in the order of events; thread name or number, or (baseline);
--             live_count allocations; live_bytes bytes
SELECT
    _heap_place.heap AS heap,
    _heap_sum.peak_seq AS peak_seq,
    CASE
        WHEN allocation.alloc_seq IS NULL THEN '(baseline)'
        ELSE coalesce(thread.name, CAST(thread.tid AS TEXT), '(unknown)')
    END AS thread,
    count(*) AS live_count,
    sum(allocation.size_bytes) AS live_bytes
FROM _heap_sum
JOIN _heap_place ON _heap_place.heap_id = _heap_sum.heap_id
JOIN allocation
    ON allocation.heap_id = _heap_sum.heap_id
    AND (allocation.alloc_seq IS NULL OR allocation.alloc_seq <= _heap_sum.peak_seq)
    AND (allocation.free_seq IS NULL OR allocation.free_seq > _heap_sum.peak_seq)
LEFT JOIN thread ON thread.thread_id = allocation.thread_id
GROUP BY _heap_sum.heap_id, CASE WHEN allocation.alloc_seq IS NULL THEN -1 ELSE allocation.thread_id END
ORDER BY _heap_sum.heap_id, live_bytes DESC, thread;
