-- workspace_waste.sql: which blocks that operators work in are larger than any of them needs, or are kept after the last.
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; heap name; address hexadecimal text; block_bytes size of the block, bytes; run_count operators that
--             worked in it; max_requested_bytes the largest workspace, bytes; unneeded_bytes of the block, bytes; kept_ns from
--             the begin of the last of them to its end or that of the trace, nanoseconds, NULL where unknown; operation that
--             it belongs to, NULL where unknown; site where it was allocated. Needs the rows of all allocations (input.detail
--             'all')
SELECT
    z_heap_place.pid AS pid,
    z_heap_place.heap AS heap,
    printf('0x%x', allocation.address) AS address,
    coalesce(allocation.block_bytes, allocation.size_bytes) AS block_bytes,
    used.run_count AS run_count,
    used.max_requested_bytes AS max_requested_bytes,
    coalesce(allocation.block_bytes, allocation.size_bytes) - used.max_requested_bytes AS unneeded_bytes,
    CASE WHEN allocation.end_kind = 0 THEN trace_end.ns ELSE allocation.free_ns END - used.last_ns AS kept_ns,
    operation.name AS operation,
    coalesce(frame.label, '(no stack)') AS site
FROM (
    SELECT
        workspace.allocation_id AS allocation_id,
        count(*) AS run_count,
        max(workspace.requested_bytes) AS max_requested_bytes,
        max(workspace.ns) AS last_ns
    FROM workspace
    WHERE workspace.allocation_id IS NOT NULL
    GROUP BY workspace.allocation_id
) AS used
JOIN allocation ON allocation.allocation_id = used.allocation_id
JOIN z_heap_place ON z_heap_place.heap_id = allocation.heap_id
JOIN moment AS trace_end ON trace_end.kind = 2
LEFT JOIN operation ON operation.operation_id = allocation.operation_id
LEFT JOIN stack ON stack.stack_id = allocation.stack_id
LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
ORDER BY unneeded_bytes DESC, block_bytes DESC, used.allocation_id
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
