-- The most that was ever live, what it was made of, and the totals of each heap.

-- catalog: first 4, in csv
CREATE VIEW peak (
    -- One row per heap: its peak, and how much the pool held for it.
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
    -- peak_bytes is of requested sizes, what blocks were given beyond that counts as unused: queries/fragmentation_verdict.sql
    -- knows better. Unit: 0 to 1. NULL: as peak_fragmentation_ratio.
    unused_at_peak_ratio
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
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
FROM z_heap_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id;

-- catalog: first 5, in csv
CREATE VIEW peak_by_site (
    -- What was live at the peak of each heap, by site; largest first within a heap.
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
    -- Where: 'file:line function', 'module+0xoffset function', '(stack cut)' where callers are
    -- missing and all that is there is plumbing, '(no stack)', or '(baseline)' for what was there before and has no stack.
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
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
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
        FROM z_peak_stack AS q
        LEFT JOIN stack AS s ON s.stack_id = q.stack_id
    ) AS k
    GROUP BY k.heap_id, k.is_baseline, k.site_frame_id
) AS g
JOIN (
    SELECT
        z_peak_stack.heap_id,
        sum(z_peak_stack.live_bytes) AS live_bytes
    FROM z_peak_stack
    GROUP BY z_peak_stack.heap_id
) AS w ON w.heap_id = g.heap_id
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.heap_id, g.live_bytes DESC, g.site_frame_id;

CREATE VIEW peak_by_category (
    -- What was live at the peak of each heap, by what it was for; largest first within a heap. Where the program says it
    -- (npumem_category_begin, npumem.category, a range of mstx's domain npumem.category), that counts; else where the memory
    -- comes from; else it is inferred from the birth and the end of each allocation against forward, backward and optimizer,
    -- as stacks and ranges tell them. What fits no rule is unknown: it is not guessed.
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
    -- What it was for: weight, gradient, optimizer state, activation, KV cache, workspace, communication, graph, temporary,
    -- input, segment, one of the program's own, or 'unknown'.
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
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
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
    FROM z_peak_category AS k
    JOIN z_category AS c ON c.category_id = k.category_id
    UNION ALL
    SELECT
        h.heap_id,
        'unknown',
        NULL,
        h.peak_live_count - coalesce(x.live_count, 0),
        h.peak_bytes - coalesce(x.live_bytes, 0)
    FROM z_heap_sum AS h
    LEFT JOIN (
        SELECT
            z_peak_category.heap_id,
            sum(z_peak_category.live_count) AS live_count,
            sum(z_peak_category.live_bytes) AS live_bytes
        FROM z_peak_category
        GROUP BY z_peak_category.heap_id
    ) AS x ON x.heap_id = h.heap_id
    WHERE h.peak_live_count > coalesce(x.live_count, 0)
) AS g
JOIN z_heap_sum AS s ON s.heap_id = g.heap_id
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
ORDER BY g.heap_id, g.live_bytes DESC, g.category, g.is_estimate;

CREATE VIEW peak_by_module (
    -- What was live at the peak of each heap, by the part of a model in whose forward it was made, as a tree: each part has a
    -- row, and so has each that it is in. Where no part is told (npumem.modules, npumem_module_begin, a range of mstx's domain
    -- npumem.module), there are no rows.
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
    FROM z_peak_module AS k
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
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
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
    FROM z_peak_module AS k
    JOIN z_heap_sum AS h ON h.heap_id = k.heap_id
    GROUP BY k.heap_id
    HAVING h.peak_live_count > sum(k.live_count)
) AS g
JOIN z_heap_sum AS s ON s.heap_id = g.heap_id
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
ORDER BY g.heap_id, g.module;

CREATE VIEW z_peak_by_package (
    -- What was live at the peak of each heap, by the package and module whose code allocated it: the Python package, or the
    -- library, of the site; largest first within a heap. Sum over the modules for a package as a whole.
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
    -- Name of an installed Python package ('transformers'), '(program)' for Python code outside site-packages, the name of the
    -- program or library for native code, '(source)' where only its source file is known, '(stack cut)', '(no stack)', or
    -- '(baseline)' for what was there before and has no stack.
    package,
    -- Of an installed package the module by its path ('transformers.models.llama.modeling_llama'); else the file without its
    -- folders. NULL: not known.
    module,
    -- Allocations that were live at the peak. Unit: allocations.
    live_count,
    -- Their size. Unit: bytes.
    live_bytes,
    -- live_bytes over those of the whole heap: the shares of a heap sum to 1. Unit: 0 to 1.
    share_ratio
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    g.package,
    g.module,
    sum(g.live_count),
    sum(g.live_bytes),
    CASE WHEN h.peak_bytes > 0 THEN CAST(sum(g.live_bytes) AS REAL) / h.peak_bytes END
FROM (
    SELECT
        n.heap_id,
        CASE
            WHEN n.is_baseline = 1 THEN '(baseline)'
            WHEN n.frame_id IS NULL THEN '(no stack)'
            WHEN n.is_cut = 1 THEN '(stack cut)'
            WHEN n.inner IS NOT NULL
                THEN CASE WHEN instr(n.inner, '/') > 0 THEN substr(n.inner, 1, instr(n.inner, '/') - 1)
                    ELSE replace(n.inner, '.py', '') END
            WHEN n.is_python = 1 THEN '(program)'
            ELSE coalesce(replace(n.library, rtrim(n.library, replace(n.library, '/', '')), ''), '(source)')
        END AS package,
        CASE
            WHEN n.is_baseline = 1 OR n.is_cut = 1 THEN NULL
            WHEN n.inner IS NOT NULL THEN replace(replace(replace(n.inner, '/__init__.py', ''), '.py', ''), '/', '.')
            ELSE replace(n.file, rtrim(n.file, replace(n.file, '/', '')), '')
        END AS module,
        n.live_count,
        n.live_bytes
    FROM (
        SELECT
            k.heap_id,
            k.is_baseline,
            f.frame_id,
            f.is_cut,
            f.file,
            f.module AS library,
            coalesce(substr(f.module, 1, 6) = 'python' OR substr(f.file, -3) = '.py', 0) AS is_python,
            CASE
                WHEN instr(f.file, '/site-packages/') > 0
                    THEN substr(f.file, instr(f.file, '/site-packages/') + 15)
                WHEN instr(f.file, '/dist-packages/') > 0
                    THEN substr(f.file, instr(f.file, '/dist-packages/') + 15)
            END AS inner,
            k.live_count,
            k.live_bytes
        FROM z_peak_stack AS k
        LEFT JOIN stack AS s ON s.stack_id = k.stack_id
        LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
    ) AS n
) AS g
JOIN z_heap_sum AS h ON h.heap_id = g.heap_id
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
GROUP BY g.heap_id, g.package, g.module
ORDER BY g.heap_id, sum(g.live_bytes) DESC, g.package, g.module;

-- catalog: first 6
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
    peak_seq,
    -- Ranks, or processes that have none, that ever held memory of it, in the same input. Unit: ranks or processes.
    holder_count
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
    d.peak_seq,
    o.holder_count
FROM z_device_sum AS d
JOIN device ON device.device_id = d.device_id
LEFT JOIN process ON process.process_id = device.process_id
LEFT JOIN (
    SELECT
        p.input_id,
        p.host,
        coalesce(e.physical_ordinal, e.ordinal) AS device,
        count(DISTINCT coalesce(p.rank, -p.process_id)) AS holder_count
    FROM z_heap_sum AS u
    JOIN heap AS h ON h.heap_id = u.heap_id
    JOIN device AS e ON e.device_id = h.device_id
    JOIN process AS p ON p.process_id = e.process_id
    WHERE u.peak_bytes > 0
    GROUP BY p.input_id, p.host, coalesce(e.physical_ordinal, e.ordinal)
) AS o ON o.input_id = process.input_id AND o.host IS process.host AND o.device IS coalesce(device.physical_ordinal, device.ordinal);

CREATE VIEW heap_total (
    -- One row per heap: how much went through it.
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
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
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
FROM z_heap_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id;

-- catalog: first 16, in csv
CREATE VIEW timeline (
    -- How much was live, over time: one row per bucket, in order. What was live before the first event comes first, in a
    -- row without places and times.
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
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    u.last_ns,
    u.live_bytes,
    u.max_live_bytes,
    u.reserved_bytes,
    u.live_count,
    u.last_seq,
    u.max_seq,
    u.max_ns
FROM usage AS u
JOIN z_heap_place AS p ON p.heap_id = u.heap_id
ORDER BY u.heap_id, u.last_seq;

CREATE VIEW z_usage_average (
    -- How much each heap used, reserved and left idle on average over time, from its first event to the end of the recording:
    -- what a heap held long counts more than what it held for a moment. From the buckets of view timeline.
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
    -- End of the heap's first bucket, from which on it is averaged. Unit: nanoseconds since the recording began.
    begin_ns,
    -- How long that is, to the last event of any heap of the input. Unit: nanoseconds.
    duration_ns,
    -- Live, on average. Unit: bytes. NULL: no time passed.
    mean_live_bytes,
    -- What the pool held, on average over the time of which that is known. Unit: bytes. NULL: not a pool, or not known.
    mean_reserved_bytes,
    -- Reserved and not live, on average over the same time. Unit: bytes. NULL: as mean_reserved_bytes.
    mean_idle_bytes,
    -- mean_idle_bytes over mean_reserved_bytes. Unit: 0 to 1. NULL: as mean_reserved_bytes, or nothing was reserved.
    mean_idle_ratio,
    -- mean_live_bytes over the peak of the heap: near 1 is steady, near 0 a short peak. Unit: 0 to 1. NULL: no time passed, or
    -- the peak is 0.
    mean_to_peak_ratio,
    -- 1: some buckets are of several events, for which the mean of their begin and end stands; 0: exact.
    is_estimate
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    w.begin_ns,
    w.duration_ns,
    CASE WHEN w.duration_ns > 0 THEN w.live_area / w.duration_ns END,
    CASE WHEN w.reserved_ns > 0 THEN w.reserved_area / w.reserved_ns END,
    CASE WHEN w.reserved_ns > 0 THEN w.idle_area / w.reserved_ns END,
    CASE WHEN w.reserved_area > 0 THEN w.idle_area / w.reserved_area END,
    CASE WHEN w.duration_ns > 0 AND s.peak_bytes > 0 THEN w.live_area / w.duration_ns / s.peak_bytes END,
    w.is_estimate
FROM (
    SELECT
        g.heap_id,
        min(g.begin_ns) AS begin_ns,
        sum(g.end_ns - g.begin_ns) AS duration_ns,
        sum(g.live_bytes * (g.end_ns - g.begin_ns)) AS live_area,
        sum(CASE WHEN g.reserved_bytes IS NOT NULL THEN g.end_ns - g.begin_ns END) AS reserved_ns,
        sum(g.reserved_bytes * (g.end_ns - g.begin_ns)) AS reserved_area,
        sum((g.reserved_bytes - g.live_bytes) * (g.end_ns - g.begin_ns)) AS idle_area,
        max(g.is_estimate AND g.end_ns > g.begin_ns) AS is_estimate
    FROM (
        SELECT
            u.heap_id,
            u.last_ns AS begin_ns,
            coalesce(n.last_ns, d.last_ns) AS end_ns,
            CASE
                WHEN n.first_seq < n.last_seq THEN (u.live_bytes + n.live_bytes) / 2.0
                ELSE 1.0 * u.live_bytes
            END AS live_bytes,
            CASE
                WHEN n.first_seq < n.last_seq THEN (u.reserved_bytes + n.reserved_bytes) / 2.0
                ELSE 1.0 * u.reserved_bytes
            END AS reserved_bytes,
            coalesce(n.first_seq < n.last_seq, 0) AS is_estimate
        FROM usage AS u
        JOIN z_heap_place AS h ON h.heap_id = u.heap_id
        JOIN (
            SELECT
                q.input_id,
                max(x.last_ns) AS last_ns
            FROM usage AS x
            JOIN z_heap_place AS q ON q.heap_id = x.heap_id
            GROUP BY q.input_id
        ) AS d ON d.input_id = h.input_id
        LEFT JOIN usage AS n
            ON n.heap_id = u.heap_id
            AND n.last_seq = (SELECT min(y.last_seq) FROM usage AS y WHERE y.heap_id = u.heap_id AND y.last_seq > u.last_seq)
        WHERE u.last_ns IS NOT NULL
    ) AS g
    GROUP BY g.heap_id
) AS w
JOIN z_heap_sum AS s ON s.heap_id = w.heap_id
JOIN z_heap_place AS p ON p.heap_id = w.heap_id
ORDER BY w.heap_id;

CREATE VIEW usage_sample (
    -- How much memory of the host each process used, and of each device anybody did, each time that it was asked; in order.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: host memory.
    device,
    -- Always NULL: of the whole device or process.
    heap,
    -- Always NULL: of the whole device or process.
    level,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- Place in the order of events.
    seq,
    -- Which memory: HBM, ..., host resident, host anonymous, host shared, host stack or host peak; and what is around a
    -- process: host cgroup (of that which leaves it least, without files that the kernel lets go of first) and host machine.
    kind,
    -- In use: of a device, cgroup or machine by anybody, of the host by the process. Unit: bytes.
    used_bytes,
    -- All memory of that kind; of the host: what the machine has; of a cgroup: its limit. Unit: bytes.
    total_bytes,
    -- used_bytes over total_bytes. Unit: 0 to 1. NULL: the total is not known.
    used_ratio
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(device.physical_ordinal, device.ordinal),
    NULL,
    NULL,
    m.ns,
    m.seq,
    coalesce(k.name, CAST(m.kind AS TEXT)),
    m.used_bytes,
    m.total_bytes,
    CASE WHEN m.total_bytes > 0 THEN CAST(m.used_bytes AS REAL) / m.total_bytes END
FROM memory_sample AS m
LEFT JOIN process ON process.process_id = m.process_id
LEFT JOIN device ON device.device_id = m.device_id
LEFT JOIN z_memory_kind AS k ON k.kind = m.kind
ORDER BY process.input_id, m.seq, m.kind;
