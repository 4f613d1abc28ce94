-- What of it is a leak.

-- catalog: large, in csv
CREATE VIEW leak (
    -- Outstanding allocations that are judged a leak, firmly: their site is growing (steps are known, and what is live of it
    -- at the ends of steps still rises over their last two fifths, or of all parts of the run as much is still there and more
    -- than twice as old as any block that was freed) or rising (a server without steps: the least that is live of it still
    -- rises over the last two fifths of the time, although the load falls), or they are unreleased: driver or pinned memory
    -- at the end of a process that ended by itself, without a reset of its device, and gives such memory back: it had freed as
    -- much or more of what the same stack allocates, some of it born later, and nothing so old; or, at the end, as much of the
    -- heap that was old. What may have been freed where events were lost is never here, and what modules of CANN (HCCL,
    -- RUNTIME, GE, ...) took for themselves only where it grows: no program frees that; nor what only replaces blocks of other
    -- sites, of the same sizes. All else that is suspected is in view
    -- suspect_by_site.
    -- A list of allocations: empty where input.detail is 'none' (leak_by_site is not).
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
    -- 'growing', 'rising' or 'unreleased'.
    verdict
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
    a.verdict
FROM (
    SELECT
        b.*,
        k.verdict,
        k.leak_count,
        row_number() OVER (
            PARTITION BY b.heap_id, b.stack_id, b.size_bytes, b.generation ORDER BY b.alloc_seq DESC, b.allocation_id DESC
        ) AS place
    FROM allocation AS b
    JOIN z_leaked_sum AS k
        ON k.heap_id = b.heap_id
        AND k.stack_id IS b.stack_id
        AND k.size_bytes = b.size_bytes
        AND k.generation = b.generation
    LEFT JOIN z_graph AS g ON g.graph_id = b.graph_id AND (g.destroyed_seq IS NULL OR g.destroyed_seq >= b.free_seq)
    WHERE b.is_segment = 0 AND b.generation IS NOT NULL AND b.is_doubtful = 0 AND g.graph_id IS NULL AND b.private_pool IS NULL
) AS a
JOIN z_heap_place AS p ON p.heap_id = a.heap_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN thread AS t ON t.thread_id = a.thread_id
LEFT JOIN operation AS o ON o.operation_id = a.operation_id
WHERE a.place <= a.leak_count;
