-- Every allocation in words.

-- catalog: large, not in csv
CREATE VIEW allocation_detail (
    -- Every single allocation in words: when, where, by whom and how; segments are left out. As long as view allocation: ask
    -- with a WHERE.
    -- A list of allocations: empty where input.detail is 'none', and of those that were live at moments where it is 'live'.
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
    -- What was asked for. Unit: bytes. NULL: not known.
    requested_bytes,
    -- Place of its birth in the order of events. NULL: it was there before the recording, or before input.detail_begin_seq.
    alloc_seq,
    -- When it was born. Unit: nanoseconds since the recording began. NULL: not known.
    alloc_ns,
    -- Number of the step in which it was born, as the program counts. NULL: before the first, or steps are not known.
    step,
    -- Place of its end in the order of events. NULL: it was never freed.
    free_seq,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known, or never freed.
    free_ns,
    -- From its birth to its end. Unit: nanoseconds. NULL: not known, or never freed.
    lifetime_ns,
    -- How it ended, a word of end_kind: none, freed, unmapped, reset or replaced.
    ended,
    -- The thread that allocated it: its name, else its number. NULL: not known.
    thread,
    -- The thread that freed it, likewise. NULL: not known, or never freed.
    free_thread,
    -- Name of the operation that it was part of. NULL: none.
    operation,
    -- What kind of operation that is, a word of operation_kind. NULL: none.
    operation_kind,
    -- Driver memory: the pages that were asked for, with what else was asked for; physical and mapped memory: which memory and pages;
    -- registered memory: how. NULL: not known, or another level.
    policy,
    -- Stream that it was allocated for. NULL: not known.
    stream,
    -- Where it was allocated: 'file:line function', 'module+0xoffset function', '(baseline)' or '(no stack)'.
    site,
    -- Where it was freed. NULL: no stack was recorded, or never freed.
    free_site,
    -- What it is for, as in view peak_by_category, or 'unknown'.
    category,
    -- 1: the pool had to grow for it; 0: the pool served it by itself. NULL: it is not known, or no block of a pool.
    is_miss,
    -- How long the call took. Unit: nanoseconds. NULL: not known.
    cost_ns,
    -- Number of the whole stack. NULL: none was recorded.
    stack_id,
    -- Number of the driver allocation that carries it, in view allocation. NULL: none, or not known.
    segment_id
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    a.allocation_id,
    printf('0x%x', a.address),
    a.size_bytes,
    a.requested_bytes,
    a.alloc_seq,
    a.alloc_ns,
    (
        SELECT CASE WHEN step.end_seq IS NULL OR step.end_seq > a.alloc_seq THEN step.number END
        FROM step
        WHERE step.process_id = p.process_id AND step.begin_seq <= a.alloc_seq
        ORDER BY step.begin_seq DESC
        LIMIT 1
    ),
    a.free_seq,
    a.free_ns,
    a.free_ns - a.alloc_ns,
    e.name,
    coalesce(t.name, CAST(t.tid AS TEXT)),
    coalesce(r.name, CAST(r.tid AS TEXT)),
    o.name,
    k.name,
    CASE
        WHEN a.policy IS NULL THEN NULL
        WHEN p.level = 'registered'
            THEN 'registered' || CASE WHEN a.policy & 2 THEN ' + mapped' ELSE '' END
            || CASE WHEN a.policy & 4 THEN ' + I/O memory' ELSE '' END
            || CASE WHEN a.policy & 8 THEN ' + read only' ELSE '' END
            || CASE WHEN a.policy & 268435456 THEN ' + pinned' ELSE '' END
        WHEN p.level = 'physical' OR a.is_mapped = 1
            THEN (SELECT y.name FROM z_memory_kind AS y WHERE y.kind = a.policy)
        ELSE
            (SELECT m.name FROM z_malloc_policy AS m WHERE m.policy = a.policy & 255)
            || CASE WHEN a.policy & 256 THEN ' + low bandwidth' ELSE '' END
            || CASE WHEN a.policy & 4096 THEN ' + high bandwidth' ELSE '' END
            || CASE WHEN a.policy & 1048576 THEN ' + read only' ELSE '' END
    END,
    a.stream,
    CASE WHEN a.alloc_seq IS NULL AND a.stack_id IS NULL THEN '(baseline)' ELSE coalesce(f.label, '(no stack)') END,
    z.label,
    coalesce(c.name, 'unknown'),
    a.is_miss,
    a.cost_ns,
    a.stack_id,
    a.segment_id
FROM allocation AS a
JOIN z_heap_place AS p ON p.heap_id = a.heap_id
LEFT JOIN end_kind AS e ON e.end_kind = a.end_kind
LEFT JOIN thread AS t ON t.thread_id = a.thread_id
LEFT JOIN thread AS r ON r.thread_id = a.free_thread_id
LEFT JOIN operation AS o ON o.operation_id = a.operation_id
LEFT JOIN operation_kind AS k ON k.kind = o.kind
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN stack AS w ON w.stack_id = a.free_stack_id
LEFT JOIN frame AS z ON z.frame_id = w.site_frame_id
LEFT JOIN z_category AS c ON c.category_id = a.category_id
WHERE a.is_segment = 0;
