-- What is still there at the end, and what of it is a leak.

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

-- catalog: first 13
CREATE VIEW outstanding_by_site (
    -- The same, summed by site; largest first.
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
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
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
    FROM z_outstanding_sum AS a
    LEFT JOIN stack AS s ON s.stack_id = a.stack_id
    GROUP BY a.heap_id, s.site_frame_id
) AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.size_bytes DESC, g.first_seq;

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

-- catalog: first 3, in csv
CREATE VIEW leak_by_site (
    -- Leaks, summed by site and verdict; largest first.
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
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- 'growing', 'rising' or 'unreleased'.
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
    last_seq,
    -- Growth of the whole site, freed blocks and all: slope of the line of least squares through what was live at the ends
    -- of the steps, the last step left out. Unit: bytes per step. NULL: fewer than three steps, or it was not there before
    -- the last, or events were lost.
    growth_bytes_per_step,
    -- The same of the number of live allocations. Unit: allocations per step. NULL: as there.
    growth_count_per_step,
    -- How steady the growth is: share of the changes in bytes that the line explains. Unit: 0 to 1. NULL: not known, or
    -- nothing changed.
    growth_fit_ratio,
    -- Steps that began since the oldest of them was born. Unit: steps. NULL: steps are unknown.
    oldest_age_steps,
    -- Age of the oldest at the end of the process, or where that was not seen at the last event of its memory. Unit: nanoseconds. NULL: not known.
    oldest_age_ns,
    -- Blocks of the site that were freed. Unit: allocations. NULL: not known.
    freed_count,
    -- 99 % of those lived no longer. Unit: nanoseconds. NULL: none was freed, or times are unknown.
    freed_p99_at_most_ns,
    -- The most steps that began in the life of a freed one. Unit: steps. NULL: none was freed, or not known.
    freed_max_steps,
    -- Of the leaked ones, how many have lived longer than 99 % of the freed ones did. Unit: allocations. NULL: none was
    -- freed, or times are unknown.
    outlier_count,
    -- How much the floor of what is live of the site at the ends of steps rises over their last two fifths; of three to
    -- seven steps: by how much it rises in the middle one; where it outlives what is freed: how much of it is born in a step.
    -- Unit: bytes per step. NULL: not growing.
    late_bytes_per_step,
    -- How much the floor of what is live of the site rises over the last two fifths of the time. Unit: bytes per hour. NULL:
    -- not rising.
    bytes_per_hour,
    -- When the device is full if it goes on like that, from the most that the heap ever held. Unit: hours. NULL: not rising,
    -- or the size of the device is not known.
    hours_left,
    -- What speaks for the verdict, in words.
    evidence,
    -- 1: something of the recording was lost, or not kept, or had begun before it: figures over steps and of what was
    -- freed are of a part; 0: all is here.
    is_partial,
    -- The stack of the site by which most of them was allocated: view stack_text, npumem stack. NULL: no stack was recorded.
    top_stack_id,
    -- Blocks of the site from before the recording began that live at its end, as far as their stacks are known: they are no
    -- part of leak_count. Unit: allocations.
    older_count,
    -- Their size. Unit: bytes.
    older_bytes
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    coalesce(f.label, '(no stack)'),
    l.verdict,
    l.allocation_count,
    l.size_bytes,
    l.generation_count,
    CASE WHEN steps.step_count IS NOT NULL THEN l.size_bytes / (l.last_generation - l.first_generation + 1) END,
    l.first_seq,
    l.last_seq,
    CASE WHEN k.lost_count = 0 THEN g.growth_bytes_per_step END,
    CASE WHEN k.lost_count = 0 THEN g.growth_count_per_step END,
    CASE WHEN k.lost_count = 0 THEN g.growth_fit_ratio END,
    steps.step_count - l.first_generation,
    l.end_ns - l.first_ns,
    coalesce(t.freed_count, CASE WHEN u.free_count = 0 THEN 0 END),
    t.p99_at_most_ns,
    CASE WHEN steps.step_count IS NOT NULL THEN t.max_steps END,
    CASE WHEN t.p99_at_most_ns IS NOT NULL THEN l.outlier_count END,
    CASE WHEN l.verdict = 'growing' THEN v.growth_bytes END,
    CASE WHEN l.verdict = 'rising' THEN v.hourly_bytes END,
    CASE
        WHEN l.verdict = 'rising' THEN max(0.0, 1.0 * device.capacity_bytes
            - max(x.peak_bytes, coalesce(x.peak_reserved_bytes, 0))) / v.hourly_bytes
    END,
    CASE l.verdict
        WHEN 'rising' THEN printf('the least that is live of the site still rises over the last two fifths of the time, by %.0f'
            || ' bytes an hour, although the load fell; live at the end: %d block%s, without those of the first and of the'
            || ' last twentieth of the time', v.hourly_bytes, l.allocation_count,
            CASE l.allocation_count WHEN 1 THEN '' ELSE 's' END)
        WHEN 'unreleased' THEN 'still held when the process ended by itself, which ' || CASE
                WHEN x.released_count > 0
                    AND (x.released_count >= x.outstanding_count OR x.released_bytes >= x.outstanding_bytes)
                    THEN printf('at its end freed %d bytes of the heap that were there for long', x.released_bytes)
                ELSE printf('had freed %d other%s of the site, none of the same stack so old', t.freed_count,
                    CASE t.freed_count WHEN 1 THEN '' ELSE 's' END)
            END
        WHEN 'growing' THEN printf('%d block%s born in %d of %d steps %s never freed; %s %.0f bytes a step',
                l.allocation_count, CASE l.allocation_count WHEN 1 THEN '' ELSE 's' END, l.generation_count,
                steps.step_count, CASE l.allocation_count WHEN 1 THEN 'was' ELSE 'were' END, CASE
                    WHEN steps.step_count < 8 THEN 'what is live of the site rises at the end of each, by'
                    WHEN v.reason = 'it outlives what is freed'
                        THEN 'of all parts of the run about as many are more than twice as old as any that was freed:'
                    ELSE 'what is live of the site still rises over the last two fifths of them, by'
                END, v.growth_bytes)
            || CASE
                WHEN g.growth_bytes_per_step IS NULL OR k.lost_count > 0 THEN ''
                ELSE printf('; over all of them the line of its growth has a fit of %.2f',
                    coalesce(g.growth_fit_ratio, 0.0))
            END
            || CASE
                WHEN t.freed_count > 0 AND l.outlier_count > 0
                    THEN printf('; %d of them %s older than 99 %% of its %d freed block%s became', l.outlier_count,
                        CASE l.outlier_count WHEN 1 THEN 'is' ELSE 'are' END, t.freed_count,
                        CASE t.freed_count WHEN 1 THEN '' ELSE 's' END)
                WHEN u.free_count = 0 AND (k.lost_count > 0 OR input.baseline = 'unknown')
                    THEN '; no free of a block of the site is in the trace'
                WHEN u.free_count = 0 THEN '; no block of the site was ever freed'
                ELSE ''
            END
            || CASE
                WHEN k.lost_count > 0 THEN '; events were lost, so only what is beyond doubt counts'
                WHEN input.baseline = 'unknown'
                    THEN '; the recording began late, so frees of what was there before do not count'
                ELSE ''
            END
    END,
    input.is_complete = 0 OR input.baseline = 'unknown' OR input.detail_begin_seq IS NOT NULL,
    top.stack_id,
    coalesce(older.live_count, 0),
    coalesce(older.live_bytes, 0)
FROM z_leak_sum AS l
JOIN z_heap_place AS p ON p.heap_id = l.heap_id
JOIN process ON process.process_id = p.process_id
JOIN input ON input.input_id = process.input_id
JOIN (
    SELECT
        input.input_id,
        input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0) AS lost_count
    FROM input
) AS k ON k.input_id = input.input_id
JOIN z_heap_sum AS x ON x.heap_id = l.heap_id
JOIN heap AS y ON y.heap_id = l.heap_id
LEFT JOIN device ON device.device_id = y.device_id
LEFT JOIN z_warm_up AS steps ON steps.process_id = p.process_id
LEFT JOIN z_site_verdict AS v ON v.heap_id = l.heap_id AND v.site_frame_id IS l.site_frame_id
LEFT JOIN z_site_growth AS g ON g.heap_id = l.heap_id AND g.site_frame_id IS l.site_frame_id
LEFT JOIN z_site_lifetime AS t ON t.heap_id = l.heap_id AND t.site_frame_id IS l.site_frame_id
LEFT JOIN (
    SELECT
        q.heap_id,
        z.site_frame_id,
        sum(q.free_count) AS free_count
    FROM z_stack_sum AS q
    LEFT JOIN stack AS z ON z.stack_id = q.stack_id
    GROUP BY q.heap_id, z.site_frame_id
) AS u ON u.heap_id = l.heap_id AND u.site_frame_id IS l.site_frame_id
LEFT JOIN (
    SELECT
        q.heap_id,
        z.site_frame_id,
        q.verdict,
        q.stack_id,
        row_number() OVER (
            PARTITION BY q.heap_id, z.site_frame_id, q.verdict
            ORDER BY sum(q.leak_count * q.size_bytes) DESC, q.stack_id
        ) AS place
    FROM z_leaked_sum AS q
    JOIN stack AS z ON z.stack_id = q.stack_id
    GROUP BY q.heap_id, q.verdict, q.stack_id
) AS top ON top.heap_id = l.heap_id AND top.site_frame_id IS l.site_frame_id AND top.verdict = l.verdict AND top.place = 1
-- begin older l
LEFT JOIN (
    SELECT
        q.heap_id,
        z.site_frame_id,
        sum(q.live_count) AS live_count,
        sum(q.live_bytes) AS live_bytes
    FROM z_older_blocks AS q
    JOIN stack AS z ON z.stack_id = q.stack_id
    GROUP BY q.heap_id, z.site_frame_id
) AS older ON older.heap_id = l.heap_id AND older.site_frame_id IS l.site_frame_id
-- end older
LEFT JOIN frame AS f ON f.frame_id = l.site_frame_id
ORDER BY l.size_bytes DESC, l.first_seq;

-- catalog: first 12, in csv
CREATE VIEW suspect_by_site (
    -- Sites that may hold more and more, but of which it is not sure, or cannot be told: no leak, in no count and in no gate.
    -- Largest first. What is not here and no leak either is what a program holds: weights, state, buffers made once.
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
    -- Where: 'file:line function', 'module+0xoffset function', '(stack cut)' or '(no stack)'.
    site,
    -- 'bounded': it grew, and what speaks for an end of that is in reason; 'not judged': it cannot be told.
    verdict,
    -- 'it stopped growing' (it is no larger at the end of the steps than before their last two fifths), 'only the newest are
    -- kept' (no block is older in steps than freed ones of the site became: a queue, or a cache), 'it replaces others' (of
    -- half of its new blocks or bytes or more, as many of the same sizes ended in other sites of the heap); 'older ones are freed' (it rises in a short history that begins in the middle, but blocks of
    -- before it and of these sizes are freed until late in it, so it may be a queue); 'no steps' (one
    -- pass, or no iterations were found), 'too few steps' (fewer than three), 'not steady' (it rises, but not like a leak),
    -- 'stack cut' (there is no site: what was allocated in many places looks like one), 'held to the end' (driver or pinned
    -- memory at the end of the process, which a reset ended, or of which nothing says that the program gives it back), 'held
    -- by graph' (it was born in captures of graphs that still live), 'in a private pool' (in a snapshot: captured graphs have
    -- private pools, and how long they need them it does not say). The last two are rows of their own, for this part of a
    -- site.
    reason,
    -- Outstanding allocations of the site that this is said of, but for those of which it is in doubt. Unit: allocations.
    allocation_count,
    -- Their size. Unit: bytes.
    size_bytes,
    -- In how many steps (twentieths of the trace, where steps are unknown) they were born. Unit: generations.
    generation_count,
    -- What there is to say for it, in words.
    evidence,
    -- The stack of the site by which most of them was allocated: view stack_text, npumem stack. NULL: no stack was recorded.
    top_stack_id
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    coalesce(f.label, '(no stack)'),
    CASE WHEN a.held_by <> '' THEN 'not judged' ELSE v.verdict END,
    CASE a.held_by WHEN 'graph' THEN 'held by graph' WHEN 'pool' THEN 'in a private pool' ELSE v.reason END,
    a.allocation_count,
    a.size_bytes,
    CASE WHEN steps.step_count IS NULL THEN a.generation_count ELSE a.late_generation_count END,
    CASE
        WHEN a.held_by = 'pool' THEN printf('%d block%s in private pools, as captured graphs have them', a.allocation_count,
            CASE a.allocation_count WHEN 1 THEN ' is' ELSE 's are' END)
        WHEN a.held_by = 'graph'
            THEN printf('%d block%s born in captures of graphs that live at the end (%d), and held as long as they do',
                a.allocation_count, CASE a.allocation_count WHEN 1 THEN ' was' ELSE 's were' END, a.graph_count)
        WHEN steps.step_count IS NULL
            THEN printf('%d block%s born in %d of 20 parts of the trace %s live at its end', a.allocation_count,
                CASE a.allocation_count WHEN 1 THEN '' ELSE 's' END, a.generation_count,
                CASE a.allocation_count WHEN 1 THEN 'is' ELSE 'are' END)
        ELSE printf('%d block%s born ', a.allocation_count, CASE a.allocation_count WHEN 1 THEN '' ELSE 's' END)
            || CASE
                WHEN a.late_generation_count = 0 THEN 'before the first of '
                ELSE printf('in %d of ', a.late_generation_count)
            END
            || printf('%d step%s', steps.step_count, CASE steps.step_count WHEN 1 THEN '' ELSE 's' END)
            || CASE WHEN a.late_generation_count BETWEEN 1 AND a.generation_count - 1 THEN ' and before them' ELSE '' END
            || CASE a.allocation_count WHEN 1 THEN ' is live at the end' ELSE ' are live at the end' END
    END || CASE
        WHEN a.held_by <> '' THEN ''
        WHEN t.freed_count > 0 AND t.max_steps IS NOT NULL AND steps.step_count IS NOT NULL
            THEN printf('; %d other%s freed, %d step%s old at most', t.freed_count,
                CASE t.freed_count WHEN 1 THEN ' was' ELSE 's were' END, t.max_steps,
                CASE t.max_steps WHEN 1 THEN '' ELSE 's' END)
        WHEN t.freed_count > 0 THEN printf('; %d other%s freed', t.freed_count,
            CASE t.freed_count WHEN 1 THEN ' was' ELSE 's were' END)
        WHEN k.detail_begin_seq IS NULL THEN '; no other was freed'
        ELSE ''
    END || CASE
        WHEN a.held_by <> '' OR k.detail_begin_seq IS NULL THEN ''
        WHEN t.freed_count > 0 THEN ', in what was kept'
        ELSE '; no other was freed in what was kept'
    END || CASE
        WHEN older.live_count > 0
            THEN printf('; %d older block%s of the site, %d bytes, %s there before the recording began', older.live_count,
                CASE older.live_count WHEN 1 THEN '' ELSE 's' END, older.live_bytes,
                CASE older.live_count WHEN 1 THEN 'was' ELSE 'were' END)
        ELSE ''
    END,
    a.stack_id
FROM (
    SELECT
        w.heap_id,
        w.site_frame_id,
        w.held_by,
        count(DISTINCT w.graph_id) AS graph_count,
        sum(w.allocation_count) AS allocation_count,
        sum(w.size_bytes) AS size_bytes,
        count(DISTINCT w.generation) AS generation_count,
        count(DISTINCT nullif(w.generation, 0)) AS late_generation_count, -- with steps: but for what was there before them
        min(CASE WHEN w.stack_bytes = w.most_bytes THEN w.stack_id END) AS stack_id
    FROM (
        SELECT
            k.*,
            max(k.stack_bytes) OVER (PARTITION BY k.heap_id, k.site_frame_id, k.held_by) AS most_bytes
        FROM (
            SELECT
                g.*,
                CASE WHEN g.stack_id IS NOT NULL THEN sum(g.size_bytes) OVER (PARTITION BY g.heap_id, g.stack_id, g.held_by) END AS stack_bytes
            FROM (
                SELECT
                    o.heap_id,
                    s.site_frame_id,
                    o.stack_id,
                    o.generation,
                    o.graph_id,
                    CASE WHEN o.graph_id IS NOT NULL THEN 'graph' WHEN o.is_private THEN 'pool' ELSE '' END AS held_by,
                    o.allocation_count,
                    o.allocation_count * o.size_bytes AS size_bytes
                FROM z_outstanding_sum AS o
                LEFT JOIN stack AS s ON s.stack_id = o.stack_id
                WHERE o.is_doubtful = 0
            ) AS g
        ) AS k
    ) AS w
    GROUP BY w.heap_id, w.site_frame_id, w.held_by
) AS a
JOIN z_heap_place AS p ON p.heap_id = a.heap_id
LEFT JOIN z_site_verdict AS v ON v.heap_id = a.heap_id AND v.site_frame_id IS a.site_frame_id
LEFT JOIN z_warm_up AS steps ON steps.process_id = p.process_id
LEFT JOIN z_site_lifetime AS t ON t.heap_id = a.heap_id AND t.site_frame_id IS a.site_frame_id
LEFT JOIN input AS k ON k.input_id = p.input_id
-- begin older a
LEFT JOIN (
    SELECT
        q.heap_id,
        z.site_frame_id,
        sum(q.live_count) AS live_count,
        sum(q.live_bytes) AS live_bytes
    FROM z_older_blocks AS q
    JOIN stack AS z ON z.stack_id = q.stack_id
    GROUP BY q.heap_id, z.site_frame_id
) AS older ON older.heap_id = a.heap_id AND older.site_frame_id IS a.site_frame_id
-- end older
LEFT JOIN frame AS f ON f.frame_id = a.site_frame_id
WHERE a.held_by <> ''
    OR (v.verdict NOT IN ('growing', 'rising')
        AND NOT EXISTS (
            SELECT 1 FROM z_leak_sum AS l WHERE l.heap_id = a.heap_id AND l.site_frame_id IS a.site_frame_id))
ORDER BY a.size_bytes DESC, p.heap_id, a.site_frame_id, a.held_by;
