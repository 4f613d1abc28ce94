-- What may be a leak, and why that cannot be said.

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
    -- Outstanding allocations of the site that this is said of, but for those of which it is in doubt, and for sizes that leak. Unit: allocations.
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
                    o.allocation_count - coalesce(k.leak_count, 0) AS allocation_count,
                    o.size_bytes - coalesce(k.leak_bytes, 0) AS size_bytes
                FROM z_outstanding_birth AS o
                LEFT JOIN stack AS s ON s.stack_id = o.stack_id
                LEFT JOIN (
                    SELECT
                        l.heap_id,
                        l.stack_id,
                        l.generation,
                        sum(l.leak_count) AS leak_count,
                        sum(l.leak_count * l.size_bytes) AS leak_bytes
                    FROM z_leaked_sum AS l
                    GROUP BY l.heap_id, l.stack_id, l.generation
                ) AS k
                    ON k.heap_id = o.heap_id
                    AND k.stack_id = o.stack_id
                    AND k.generation = o.generation
                    AND o.graph_id IS NULL
                    AND o.is_private = 0
                WHERE o.is_doubtful = 0 AND o.allocation_count > coalesce(k.leak_count, 0)
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
    OR v.reason IN ('stack cut', 'it replaces others', 'not steady')
    OR (v.verdict NOT IN ('growing', 'rising')
        AND NOT EXISTS (
            SELECT 1 FROM z_leak_sum AS l WHERE l.heap_id = a.heap_id AND l.site_frame_id IS a.site_frame_id))
ORDER BY a.size_bytes DESC, p.heap_id, a.site_frame_id, a.held_by;
