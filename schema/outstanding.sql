-- What is still there at the end.

-- catalog: large, in csv
CREATE VIEW outstanding (
    -- What was allocated in the recording and not freed by its end, segments left out, and the physical memory under
    -- mappings, which are here. What a reset or finalize ended is among them if nothing was allocated on the device after it. Weights are
    -- outstanding, not a leak.
    -- A list of allocations: empty where input.detail is 'none' (outstanding_by_site is not).
    --
    -- begin place
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device. NULL: host memory.
    device,
    -- Name of the heap.
    heap,
    -- Level of the heap.
    level,
    -- end place
    -- Number of the allocation.
    allocation_id,
    -- First address, hexadecimal.
    address,
    -- Size by the size_basis of the heap. Unit: bytes.
    size_bytes,
    -- Place of its birth in the order of events. NULL: before input.detail_begin_seq.
    alloc_seq,
    -- When it was born. Unit: nanoseconds since the recording began. NULL: not known.
    alloc_ns,
    -- The thread that allocated it: its name, else its number. NULL: not known.
    thread,
    -- Name of the operation that it was part of. NULL: none.
    operation,
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- Number of the whole stack. NULL: none was recorded.
    stack_id,
    -- What it is for: as in view peak_by_category.
    category,
    -- 1: that is inferred; 0: told, or known by where it comes from. NULL: it is not known.
    category_is_estimate
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    a.allocation_id,
    printf('0x%x', a.address),
    a.size_bytes,
    a.alloc_seq,
    a.alloc_ns,
    coalesce(t.name, CAST(t.tid AS TEXT)),
    o.name,
    coalesce(f.label, '(no stack)'),
    a.stack_id,
    CASE c.name
        WHEN 'other' THEN coalesce((
            WITH RECURSIVE around (operation_id, distance) AS (
                SELECT
                    a.operation_id,
                    0
                UNION ALL
                SELECT
                    i.parent_id,
                    around.distance + 1
                FROM around
                JOIN operation AS i ON i.operation_id = around.operation_id
                WHERE i.parent_id IS NOT NULL
            )
            SELECT i.name
            FROM around
            JOIN operation AS i ON i.operation_id = around.operation_id
            JOIN operation_kind AS k ON k.kind = i.kind AND k.name = 'category'
            ORDER BY around.distance
            LIMIT 1
        ), c.name)
        ELSE coalesce(c.name, 'unknown')
    END,
    c.is_estimate
FROM allocation AS a
JOIN z_heap_place AS p ON p.heap_id = a.heap_id
LEFT JOIN thread AS t ON t.thread_id = a.thread_id
LEFT JOIN operation AS o ON o.operation_id = a.operation_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN z_category AS c ON c.category_id = a.category_id
WHERE a.is_segment = 0 AND a.generation IS NOT NULL;
