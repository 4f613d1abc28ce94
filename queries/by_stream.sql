-- by_stream.sql: how each heap is used by stream, largest first.
-- Parameters: :top    rows to return (default 50)
-- Columns:    heap name; stream number or handle, NULL where unknown; allocation_count allocations; allocated_bytes
--             bytes;
--             outstanding_count, outstanding_bytes never freed, allocations and bytes; pending_count frees that waited
--             for
--             another stream
SELECT
    z_heap_place.heap AS heap,
    s.stream AS stream,
    sum(s.allocation_count) AS allocation_count,
    sum(s.allocated_bytes) AS allocated_bytes,
    sum(s.outstanding_count) AS outstanding_count,
    sum(s.outstanding_bytes) AS outstanding_bytes,
    sum(s.pending_count) AS pending_count
FROM z_thread_stream_sum AS s
JOIN z_heap_place ON z_heap_place.heap_id = s.heap_id
WHERE s.is_segment = 0
GROUP BY s.heap_id, s.stream
ORDER BY allocated_bytes DESC, s.heap_id, s.stream
-- begin guard :top; coalesce(:top, 50)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 50)
END;
-- end guard
