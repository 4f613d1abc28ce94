-- What is still there at the end, and what of it is a leak.

CREATE VIEW outstanding (
    -- What was allocated in the recording and not freed by its end, segments left out. Weights are outstanding, not a leak.
    -- A list of allocations: empty where input.detail is 'none' (outstanding_by_site is not).
    --
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
    stack_id
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    a.allocation_id,
    printf('0x%x', a.address),
    a.size_bytes,
    a.alloc_seq,
    a.alloc_ns,
    coalesce(t.name, CAST(t.tid AS TEXT)),
    o.name,
    coalesce(f.label, '(no stack)'),
    a.stack_id
FROM allocation AS a
JOIN heap_place AS p ON p.heap_id = a.heap_id
LEFT JOIN thread AS t ON t.thread_id = a.thread_id
LEFT JOIN operation AS o ON o.operation_id = a.operation_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
WHERE a.end_kind = 0 AND a.is_segment = 0 AND a.generation IS NOT NULL;

CREATE VIEW outstanding_by_site (
    -- The same, summed by site; largest first.
    --
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
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- Outstanding allocations of the site. Unit: allocations.
    allocation_count,
    -- Their size. Unit: bytes.
    size_bytes,
    -- Birth of the first in the order of events, of those after input.detail_begin_seq. NULL: there are none.
    first_seq,
    -- Birth of the last in the order of events. NULL: before input.detail_begin_seq.
    last_seq,
    -- In how many steps (twentieths of the trace, where steps are unknown) they were born. Unit: generations.
    generation_count
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    coalesce(f.label, '(no stack)'),
    g.allocation_count,
    g.size_bytes,
    g.first_seq,
    g.last_seq,
    g.generation_count
FROM (
    SELECT
        a.heap_id,
        s.site_frame_id,
        sum(a.allocation_count) AS allocation_count,
        sum(a.allocation_count * a.size_bytes) AS size_bytes,
        min(a.first_seq) AS first_seq,
        max(a.last_seq) AS last_seq,
        count(DISTINCT a.generation) AS generation_count
    FROM outstanding_sum AS a
    LEFT JOIN stack AS s ON s.stack_id = a.stack_id
    GROUP BY a.heap_id, s.site_frame_id
) AS g
JOIN heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.size_bytes DESC, g.first_seq;

CREATE VIEW growing_site (
    -- Sites whose still-live allocations were born in at least three generations, the last in the second half: of the
    -- steps of the process, or of the trace where steps are unknown. Where the site is not known, or all its frames are
    -- plumbing, allocations of one size stand for a site, so that weights and a leak behind the same allocator are not
    -- taken for one thing.
    --
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
    -- Number of the heap.
    heap_id,
    -- Number of the site's frame; 0: no stack.
    site_key,
    -- Size that stands for the site, or -1 where the site itself is known. Unit: bytes.
    size_key,
    -- Allocations. Unit: allocations.
    growing_count,
    -- In how many generations they were born. Unit: generations.
    generation_count
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    g.heap_id,
    g.site_key,
    g.size_key,
    g.growing_count,
    g.generation_count
FROM (
    SELECT
        a.heap_id,
        coalesce(s.site_frame_id, 0) AS site_key,
        CASE WHEN f.is_plumbing = 0 THEN -1 ELSE a.size_bytes END AS size_key,
        sum(a.allocation_count) AS growing_count,
        count(DISTINCT a.generation) AS generation_count,
        max(a.generation) AS last_generation,
        max(a.last_seq) AS last_seq
    FROM outstanding_sum AS a
    LEFT JOIN stack AS s ON s.stack_id = a.stack_id
    LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
    WHERE a.is_doubtful = 0
    GROUP BY a.heap_id, coalesce(s.site_frame_id, 0), CASE WHEN f.is_plumbing = 0 THEN -1 ELSE a.size_bytes END
) AS g
JOIN heap_place AS p ON p.heap_id = g.heap_id
JOIN process ON process.process_id = p.process_id
JOIN input ON input.input_id = process.input_id
LEFT JOIN (
    SELECT
        step.process_id,
        max(step.generation) AS step_count
    FROM step
    GROUP BY step.process_id
) AS steps ON steps.process_id = p.process_id
WHERE g.generation_count >= 3
    AND CASE
        WHEN steps.step_count IS NOT NULL THEN 2 * g.last_generation > steps.step_count
        WHEN g.last_seq IS NULL THEN g.last_generation >= 10
        WHEN input.detail_begin_seq IS NOT NULL THEN 2 * g.last_seq >= input.last_seq
        ELSE 2 * g.last_seq >= input.first_seq + input.last_seq
    END;

CREATE VIEW leak (
    -- Outstanding allocations that are judged a leak: their site is growing, or they are driver or pinned memory that
    -- was unreleased when the process ended by itself. What may have been freed where events were lost is never here, and
    -- what modules of CANN (HCCL, RUNTIME, GE, ...) took for themselves only where it grows: no program frees that.
    -- A list of allocations: empty where input.detail is 'none' (leak_by_site is not).
    --
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
    -- 'growing' or 'unreleased'.
    verdict
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    a.allocation_id,
    printf('0x%x', a.address),
    a.size_bytes,
    a.alloc_seq,
    a.alloc_ns,
    coalesce(t.name, CAST(t.tid AS TEXT)),
    o.name,
    coalesce(f.label, '(no stack)'),
    a.stack_id,
    CASE WHEN g.heap_id IS NOT NULL THEN 'growing' ELSE 'unreleased' END
FROM allocation AS a
JOIN heap AS h ON h.heap_id = a.heap_id
JOIN heap_place AS p ON p.heap_id = a.heap_id
LEFT JOIN process ON process.process_id = p.process_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN growing_site AS g
    ON g.heap_id = a.heap_id
    AND g.site_key = coalesce(s.site_frame_id, 0)
    AND g.size_key = CASE WHEN f.is_plumbing = 0 THEN -1 ELSE a.size_bytes END
LEFT JOIN thread AS t ON t.thread_id = a.thread_id
LEFT JOIN operation AS o ON o.operation_id = a.operation_id
WHERE a.end_kind = 0 AND a.is_segment = 0 AND a.generation IS NOT NULL AND a.is_doubtful = 0
    AND (g.heap_id IS NOT NULL
        OR (p.level IN ('driver', 'pinned', 'physical') AND coalesce(h.module_id, 33) = 33
            AND process.end_kind = 'exit'));

CREATE VIEW leak_by_site (
    -- Leaks, summed by site and verdict; largest first.
    --
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
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- 'growing' or 'unreleased'.
    verdict,
    -- Leaked allocations. Unit: allocations.
    leak_count,
    -- Their size. Unit: bytes.
    leak_bytes,
    -- In how many steps (twentieths of the trace, where steps are unknown) they were born. Unit: generations.
    generation_count,
    -- leak_bytes over the steps from the first leaked birth to the last. Unit: bytes. NULL: steps are unknown.
    bytes_per_step,
    -- Birth of the first in the order of events, of those after input.detail_begin_seq. NULL: there are none.
    first_seq,
    -- Birth of the last in the order of events. NULL: before input.detail_begin_seq.
    last_seq
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    coalesce(f.label, '(no stack)'),
    l.verdict,
    l.leak_count,
    l.leak_bytes,
    l.generation_count,
    CASE
        WHEN EXISTS (SELECT 1 FROM step WHERE step.process_id = p.process_id)
            THEN l.leak_bytes / (l.last_generation - l.first_generation + 1)
    END,
    l.first_seq,
    l.last_seq
FROM (
    SELECT
        a.heap_id,
        s.site_frame_id,
        CASE WHEN g.heap_id IS NOT NULL THEN 'growing' ELSE 'unreleased' END AS verdict,
        sum(a.allocation_count) AS leak_count,
        sum(a.allocation_count * a.size_bytes) AS leak_bytes,
        count(DISTINCT a.generation) AS generation_count,
        min(a.generation) AS first_generation,
        max(a.generation) AS last_generation,
        min(a.first_seq) AS first_seq,
        max(a.last_seq) AS last_seq
    FROM outstanding_sum AS a
    JOIN heap AS h ON h.heap_id = a.heap_id
    LEFT JOIN process ON process.process_id = h.process_id
    LEFT JOIN stack AS s ON s.stack_id = a.stack_id
    LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
    LEFT JOIN growing_site AS g
        ON g.heap_id = a.heap_id
        AND g.site_key = coalesce(s.site_frame_id, 0)
        AND g.size_key = CASE WHEN f.is_plumbing = 0 THEN -1 ELSE a.size_bytes END
    WHERE a.is_doubtful = 0
        AND (g.heap_id IS NOT NULL
            OR (h.level IN (1, 4, 7) AND coalesce(h.module_id, 33) = 33 AND process.end_kind = 'exit'))
    GROUP BY a.heap_id, s.site_frame_id, CASE WHEN g.heap_id IS NOT NULL THEN 'growing' ELSE 'unreleased' END
) AS l
JOIN heap_place AS p ON p.heap_id = l.heap_id
LEFT JOIN frame AS f ON f.frame_id = l.site_frame_id
ORDER BY l.leak_bytes DESC, l.first_seq;
