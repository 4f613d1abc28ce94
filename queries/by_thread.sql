-- by_thread.sql: which threads allocate, which free, and what they leave, largest first.
-- Parameters: :top    rows to return (default 50)
-- Columns:    pid process; thread name or number; heap name; allocation_count allocations; allocated_bytes bytes;
--             freed_elsewhere_count of them freed by another thread; outstanding_bytes never freed, bytes
SELECT
    process.pid AS pid,
    coalesce(thread.name, CAST(thread.tid AS TEXT), '(unknown)') AS thread,
    z_heap_place.heap AS heap,
    count(*) AS allocation_count,
    sum(allocation.size_bytes) AS allocated_bytes,
    sum(allocation.free_thread_id IS NOT NULL AND allocation.free_thread_id <> allocation.thread_id)
        AS freed_elsewhere_count,
    sum(CASE WHEN allocation.end_kind = 0 THEN allocation.size_bytes ELSE 0 END) AS outstanding_bytes
FROM allocation
JOIN z_heap_place ON z_heap_place.heap_id = allocation.heap_id
LEFT JOIN process ON process.process_id = z_heap_place.process_id
LEFT JOIN thread ON thread.thread_id = allocation.thread_id
WHERE allocation.alloc_seq IS NOT NULL AND allocation.split_from_id IS NULL
GROUP BY allocation.heap_id, allocation.thread_id
ORDER BY allocated_bytes DESC, allocation.heap_id, allocation.thread_id
-- begin guard :top; coalesce(:top, 50)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 50)
END;
-- end guard
