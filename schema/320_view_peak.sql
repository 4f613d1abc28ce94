-- The most that was ever live, what it was made of, and the totals of each heap.

CREATE VIEW peak (
    -- One row per heap: its peak, and how much the pool held for it.
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
    -- Most that was ever live, baseline included. Unit: bytes.
    peak_bytes,
    -- Place in the order of events at which it was reached first. NULL: before the first event.
    peak_seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    peak_ns,
    -- Allocations that were live then. Unit: allocations.
    live_count,
    -- What was live before the first event. Unit: bytes.
    baseline_bytes,
    -- What the pool held of the driver's memory at the peak, by reserved_source. Unit: bytes. NULL: not a pool, or not
    -- known.
    reserved_at_peak_bytes,
    -- Most that the pool ever held, by reserved_source. Unit: bytes. NULL: not a pool, or not known.
    peak_reserved_bytes,
    -- 1 - peak_bytes / peak_reserved_bytes: the share of the pool that was never used at once, whenever the two were reached;
    -- of no one moment. Unit: 0 to 1. NULL: not a pool, or nothing reserved.
    peak_fragmentation_ratio,
    -- All memory of the device. Unit: bytes. NULL: not known.
    capacity_bytes,
    -- 'segments' (driver memory that carried the pool's blocks) or, where none was ever seen, 'stated' (the pool's own
    -- word). NULL: neither is known, or not a pool.
    reserved_source,
    -- Most that the pool itself ever stated to hold. Unit: bytes. NULL: it never stated anything.
    peak_stated_reserved_bytes,
    -- 1: of the whole recording, also where its beginning was not kept; 0: of what was kept alone.
    is_whole_run,
    -- 1 - peak_bytes / reserved_at_peak_bytes: the share of what the pool held at the peak that was unused then. Where
    -- peak_bytes is of requested sizes, what blocks were given beyond that counts as unused: view fragmentation_verdict knows
    -- better. Unit: 0 to 1. NULL: as peak_fragmentation_ratio.
    unused_at_peak_ratio
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    s.peak_bytes,
    s.peak_seq,
    s.peak_ns,
    s.peak_live_count,
    s.baseline_bytes,
    s.reserved_at_peak_bytes,
    s.peak_reserved_bytes,
    CASE
        WHEN s.peak_reserved_bytes > 0
            THEN max(0.0, CAST(s.peak_reserved_bytes - s.peak_bytes AS REAL) / s.peak_reserved_bytes)
    END,
    p.capacity_bytes,
    s.reserved_source,
    s.peak_stated_reserved_bytes,
    s.is_whole_run,
    CASE
        WHEN s.reserved_at_peak_bytes > 0
            THEN max(0.0, CAST(s.reserved_at_peak_bytes - s.peak_bytes AS REAL) / s.reserved_at_peak_bytes)
    END
FROM heap_sum AS s
JOIN heap_place AS p ON p.heap_id = s.heap_id;

CREATE VIEW peak_by_site (
    -- What was live at the peak of each heap, by site; largest first within a heap.
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
    -- Where: 'file:line function', 'module+0xoffset function', '(stack cut)', with the thread's name, where callers are
    -- missing and all that is there is plumbing, '(no stack)', or '(baseline)' for what was there before.
    site,
    -- Allocations of the site that were live at the peak. Unit: allocations.
    live_count,
    -- Their size. Unit: bytes.
    live_bytes,
    -- live_bytes over those of the whole heap: the shares of a heap sum to 1. Unit: 0 to 1.
    share_ratio,
    -- The stack of the site by which most of it was allocated: view stack_text, npumem stack. NULL: no stack was recorded.
    top_stack_id
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    CASE WHEN g.is_baseline = 1 THEN '(baseline)' ELSE coalesce(f.label, '(no stack)') END,
    g.live_count,
    g.live_bytes,
    CASE WHEN w.live_bytes > 0 THEN CAST(g.live_bytes AS REAL) / w.live_bytes END,
    g.top_stack_id
FROM (
    SELECT
        k.heap_id,
        k.is_baseline,
        k.site_frame_id,
        sum(k.live_count) AS live_count,
        sum(k.live_bytes) AS live_bytes,
        max(CASE k.place WHEN 1 THEN k.stack_id END) AS top_stack_id
    FROM (
        SELECT
            q.heap_id,
            q.is_baseline,
            q.stack_id,
            s.site_frame_id,
            q.live_count,
            q.live_bytes,
            row_number() OVER (
                PARTITION BY q.heap_id, q.is_baseline, s.site_frame_id
                ORDER BY q.live_bytes DESC, q.stack_id
            ) AS place
        FROM peak_stack AS q
        LEFT JOIN stack AS s ON s.stack_id = q.stack_id
    ) AS k
    GROUP BY k.heap_id, k.is_baseline, k.site_frame_id
) AS g
JOIN (
    SELECT
        peak_stack.heap_id,
        sum(peak_stack.live_bytes) AS live_bytes
    FROM peak_stack
    GROUP BY peak_stack.heap_id
) AS w ON w.heap_id = g.heap_id
JOIN heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.heap_id, g.live_bytes DESC, g.site_frame_id;

CREATE VIEW peak_by_category (
    -- What was live at the peak of each heap, by what it was for; largest first within a heap. Where the program says it
    -- (npumem_category_begin, npumem.category, a range of mstx's domain npumem.category), that counts; else where the memory
    -- comes from; else it is inferred from the birth and the end of each allocation against forward, backward and optimizer,
    -- as stacks and ranges tell them. What fits no rule is unknown: it is not guessed.
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
    -- What it was for: a word of table category, one of the program's own, or 'unknown'.
    category,
    -- 1: inferred; 0: told, or known by where it comes from. NULL: it is not known.
    is_estimate,
    -- Allocations that were live at the peak. Unit: allocations.
    live_count,
    -- Their size. Unit: bytes.
    live_bytes,
    -- live_bytes over those of the whole heap: the shares of a heap sum to 1. Unit: 0 to 1.
    share_ratio
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    g.category,
    g.is_estimate,
    g.live_count,
    g.live_bytes,
    CASE WHEN s.peak_bytes > 0 THEN CAST(g.live_bytes AS REAL) / s.peak_bytes END
FROM (
    SELECT
        k.heap_id,
        coalesce(k.own_name, c.name) AS category,
        c.is_estimate,
        k.live_count,
        k.live_bytes
    FROM peak_category AS k
    JOIN category AS c ON c.category_id = k.category_id
    UNION ALL
    SELECT
        h.heap_id,
        'unknown',
        NULL,
        h.peak_live_count - coalesce(x.live_count, 0),
        h.peak_bytes - coalesce(x.live_bytes, 0)
    FROM heap_sum AS h
    LEFT JOIN (
        SELECT
            peak_category.heap_id,
            sum(peak_category.live_count) AS live_count,
            sum(peak_category.live_bytes) AS live_bytes
        FROM peak_category
        GROUP BY peak_category.heap_id
    ) AS x ON x.heap_id = h.heap_id
    WHERE h.peak_live_count > coalesce(x.live_count, 0)
) AS g
JOIN heap_sum AS s ON s.heap_id = g.heap_id
JOIN heap_place AS p ON p.heap_id = g.heap_id
ORDER BY g.heap_id, g.live_bytes DESC, g.category, g.is_estimate;

CREATE VIEW peak_by_module (
    -- What was live at the peak of each heap, by the part of a model in whose forward it was made, as a tree: each part has a
    -- row, and so has each that it is in. Where no part is told (npumem.modules, npumem_module_begin, a range of mstx's domain
    -- npumem.module), there are no rows.
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
    -- Path of the part ('model.layers.3.mlp'), or '(no module)' for what was made in none.
    module,
    -- Path of the part that it is in. NULL: it is in none.
    parent,
    -- Allocations that were live at the peak and made in this part itself. Unit: allocations.
    own_count,
    -- Their size. Unit: bytes.
    own_bytes,
    -- The same with all parts in it. Unit: allocations.
    live_count,
    -- Their size. Unit: bytes.
    live_bytes,
    -- live_bytes over those of the whole heap: the shares of the outermost parts of a heap sum to 1. Unit: 0 to 1.
    share_ratio
) AS
WITH RECURSIVE around (heap_id, module, own_count, own_bytes, live_count, live_bytes) AS (
    SELECT
        k.heap_id,
        k.module,
        k.live_count,
        k.live_bytes,
        k.live_count,
        k.live_bytes
    FROM peak_module AS k
    UNION ALL
    SELECT
        around.heap_id,
        rtrim(rtrim(around.module, replace(around.module, '.', '')), '.'),
        0,
        0,
        around.live_count,
        around.live_bytes
    FROM around
    WHERE instr(around.module, '.') > 0
)
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    g.module,
    g.parent,
    g.own_count,
    g.own_bytes,
    g.live_count,
    g.live_bytes,
    CASE WHEN s.peak_bytes > 0 THEN CAST(g.live_bytes AS REAL) / s.peak_bytes END
FROM (
    SELECT
        around.heap_id,
        around.module,
        CASE WHEN instr(around.module, '.') > 0
            THEN rtrim(rtrim(around.module, replace(around.module, '.', '')), '.') END AS parent,
        sum(around.own_count) AS own_count,
        sum(around.own_bytes) AS own_bytes,
        sum(around.live_count) AS live_count,
        sum(around.live_bytes) AS live_bytes
    FROM around
    GROUP BY around.heap_id, around.module
    UNION ALL
    SELECT
        h.heap_id,
        '(no module)',
        NULL,
        h.peak_live_count - sum(k.live_count),
        h.peak_bytes - sum(k.live_bytes),
        h.peak_live_count - sum(k.live_count),
        h.peak_bytes - sum(k.live_bytes)
    FROM peak_module AS k
    JOIN heap_sum AS h ON h.heap_id = k.heap_id
    GROUP BY k.heap_id
    HAVING h.peak_live_count > sum(k.live_count)
) AS g
JOIN heap_sum AS s ON s.heap_id = g.heap_id
JOIN heap_place AS p ON p.heap_id = g.heap_id
ORDER BY g.heap_id, g.module;

CREATE VIEW device_peak (
    -- One row per physical device: its peak over all driver heaps of all processes of an input. Of several inputs each has
    -- rows of its own, also where they name the same device: events of two recordings have no common order.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Always NULL: a device may serve several ranks.
    rank,
    -- Always NULL: a device may serve several processes.
    pid,
    -- Number of the device.
    device,
    -- Always NULL: over all driver heaps.
    heap,
    -- Always 'driver'.
    level,
    -- Most that was ever live. Unit: bytes.
    peak_bytes,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    peak_ns,
    -- All memory of the device. Unit: bytes. NULL: not known.
    capacity_bytes,
    -- Place in the order of events at which the peak was reached first. NULL: before the first event.
    peak_seq
) AS
SELECT
    process.host,
    NULL,
    NULL,
    coalesce(device.physical_ordinal, device.ordinal),
    NULL,
    'driver',
    d.peak_bytes,
    d.peak_ns,
    device.capacity_bytes,
    d.peak_seq
FROM device_sum AS d
JOIN device ON device.device_id = d.device_id
LEFT JOIN process ON process.process_id = device.process_id;

CREATE VIEW heap_total (
    -- One row per heap: how much went through it.
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
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count,
    -- Of these, how many ended. Unit: allocations.
    free_count,
    -- Sum of what was allocated, without the baseline. Unit: bytes.
    allocated_bytes,
    -- Of these, how much ended. Unit: bytes.
    freed_bytes,
    -- Allocated in the trace, not freed by its end, not a segment. Unit: allocations.
    outstanding_count,
    -- Their size. Unit: bytes.
    outstanding_bytes,
    -- What was live before the first event. Unit: bytes.
    baseline_bytes,
    -- Live at the end of the trace, baseline included. Unit: bytes.
    live_bytes,
    -- What the pool held at the end, by reserved_source. Unit: bytes. NULL: not a pool, or not known.
    reserved_bytes,
    -- 'segments' (driver memory that carried the pool's blocks) or, where none was ever seen, 'stated' (the pool's own
    -- word). NULL: neither is known, or not a pool.
    reserved_source,
    -- What the pool itself stated last. Unit: bytes. NULL: it never stated anything.
    stated_reserved_bytes,
    -- 1: of the whole recording, also where its beginning was not kept; 0: of what was kept alone.
    is_whole_run
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    s.allocation_count,
    s.free_count,
    s.allocated_bytes,
    s.freed_bytes,
    s.outstanding_count,
    s.outstanding_bytes,
    s.baseline_bytes,
    s.live_bytes,
    s.reserved_bytes,
    s.reserved_source,
    s.stated_reserved_bytes,
    s.is_whole_run
FROM heap_sum AS s
JOIN heap_place AS p ON p.heap_id = s.heap_id;

CREATE VIEW step_total (
    -- What each heap did in each step, over the whole recording; steps in which it did nothing are left out.
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
    -- Number of the step, as the program counts; of several joined ones that of the first. NULL: before the first step.
    step,
    -- How many steps the row is of: a long recording that was kept in parts has joined old ones. Unit: steps.
    step_count,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known, or before the first step.
    begin_ns,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known.
    end_ns,
    -- Allocations in it. Unit: allocations.
    allocation_count,
    -- Ends of allocations in it, the baseline left out. Unit: allocations.
    free_count,
    -- Sum of what was allocated in it. Unit: bytes.
    allocated_bytes,
    -- Sum of what ended in it, the baseline left out. Unit: bytes.
    freed_bytes,
    -- Requests for which the pool had to grow. Unit: allocations. NULL: not a pool, or not known.
    miss_count,
    -- Most that was live in it. Unit: bytes.
    peak_bytes,
    -- Live at its end. Unit: bytes.
    live_bytes,
    -- Live allocations at its end. Unit: allocations.
    live_count,
    -- 1: each of its events has a row in this database; 0: only this sum was kept of some.
    has_detail
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    t.number,
    t.last_generation - t.generation + 1,
    t.begin_ns,
    t.end_ns,
    t.allocation_count,
    t.free_count,
    t.allocated_bytes,
    t.freed_bytes,
    CASE WHEN p.level IN ('pool', 'workspace') THEN t.miss_count END,
    t.peak_bytes,
    t.live_bytes,
    t.live_count,
    coalesce(coalesce(t.begin_seq, -1) >= input.detail_begin_seq, 1)
FROM heap_place AS p
JOIN input ON input.input_id = p.input_id
CROSS JOIN step_sum AS t ON t.heap_id = p.heap_id
ORDER BY p.heap_id, t.generation;

CREATE VIEW site_total (
    -- How much was allocated at each site, over the whole recording, without the baseline; largest first.
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
    -- Allocations. Unit: allocations.
    allocation_count,
    -- Of these, how many ended. Unit: allocations.
    free_count,
    -- Sum of what was allocated. Unit: bytes.
    allocated_bytes,
    -- Of these, how much ended. Unit: bytes.
    freed_bytes,
    -- What is left: live at the end, segments too. Unit: bytes.
    live_bytes
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
    g.free_count,
    g.allocated_bytes,
    g.freed_bytes,
    g.allocated_bytes - g.freed_bytes
FROM (
    SELECT
        t.heap_id,
        s.site_frame_id,
        sum(t.allocation_count) AS allocation_count,
        sum(t.free_count) AS free_count,
        sum(t.allocated_bytes) AS allocated_bytes,
        sum(t.freed_bytes) AS freed_bytes
    FROM stack_sum AS t
    LEFT JOIN stack AS s ON s.stack_id = t.stack_id
    GROUP BY t.heap_id, s.site_frame_id
) AS g
JOIN heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.allocated_bytes DESC, g.heap_id, g.site_frame_id;

CREATE VIEW timeline (
    -- How much was live, over time: one row per bucket, in order. What was live before the first event comes first, in a
    -- row without places and times.
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
    -- End of the bucket. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- Live at the end of the bucket. Unit: bytes.
    live_bytes,
    -- Most that was live within the bucket. Unit: bytes.
    max_live_bytes,
    -- What the pool held at the end of the bucket. Unit: bytes. NULL: not a pool, or not known.
    reserved_bytes,
    -- Live allocations at the end of the bucket. Unit: allocations.
    live_count,
    -- End of the bucket in the order of events. NULL: before the first event.
    last_seq,
    -- Where in the order of events max_live_bytes was reached first. NULL: before the first event.
    max_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    max_ns
) AS
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    u.last_ns,
    u.live_bytes,
    u.max_live_bytes,
    u.reserved_bytes,
    u.live_count,
    u.last_seq,
    u.max_seq,
    u.max_ns
FROM usage AS u
JOIN heap_place AS p ON p.heap_id = u.heap_id
ORDER BY u.heap_id, u.last_seq;
