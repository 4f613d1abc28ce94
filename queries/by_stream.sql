-- by_stream.sql: how each heap is used by stream, largest first.
-- Parameters: :top    rows to return (default 50)
-- Columns:    heap name; stream number or handle, NULL where unknown; allocation_count allocations; allocated_bytes
--             bytes;
--             outstanding_count, outstanding_bytes never freed, allocations and bytes; pending_count frees that waited
--             for
--             another stream
SELECT
    z_heap_place.heap AS heap,
    allocation.stream AS stream,
    count(*) AS allocation_count,
    sum(allocation.size_bytes) AS allocated_bytes,
    sum(allocation.end_kind = 0) AS outstanding_count,
    sum(CASE WHEN allocation.end_kind = 0 THEN allocation.size_bytes ELSE 0 END) AS outstanding_bytes,
    sum(allocation.free_requested_seq IS NOT NULL) AS pending_count
FROM allocation
JOIN z_heap_place ON z_heap_place.heap_id = allocation.heap_id
WHERE allocation.alloc_seq IS NOT NULL AND allocation.is_segment = 0 AND allocation.split_from_id IS NULL
GROUP BY allocation.heap_id, allocation.stream
ORDER BY allocated_bytes DESC, allocation.heap_id, allocation.stream
-- begin guard :top; coalesce(:top, 50)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 50)
END;
-- end guard
