-- by_thread.sql: which threads allocate, which free, and what they leave, largest first.
-- Parameters: :top    rows to return (default 50)
-- Columns:    pid process; thread name or number; heap name; allocation_count allocations; allocated_bytes bytes;
--             freed_elsewhere_count of them freed by another thread; outstanding_bytes never freed, bytes
SELECT
    process.pid AS pid,
    coalesce(thread.name, CAST(thread.tid AS TEXT), '(unknown)') AS thread,
    z_heap_place.heap AS heap,
    sum(s.allocation_count) AS allocation_count,
    sum(s.allocated_bytes) AS allocated_bytes,
    coalesce(
        (
            SELECT sum(f.freed_count)
            FROM z_freed_by_thread AS f
            WHERE f.heap_id = s.heap_id AND f.thread_id = s.thread_id
        ),
        0
    ) AS freed_elsewhere_count,
    sum(s.outstanding_bytes) AS outstanding_bytes
FROM z_thread_stream_sum AS s
JOIN z_heap_place ON z_heap_place.heap_id = s.heap_id
LEFT JOIN process ON process.process_id = z_heap_place.process_id
LEFT JOIN thread ON thread.thread_id = s.thread_id
GROUP BY s.heap_id, s.thread_id
ORDER BY allocated_bytes DESC, s.heap_id, s.thread_id
-- begin guard :top; coalesce(:top, 50)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 50)
END;
-- end guard
