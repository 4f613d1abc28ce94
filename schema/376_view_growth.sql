-- What of each site was live from step to step.

CREATE VIEW step_growth (
    -- How much of each site was live at the end of each step, from the step on in which it first was; in order. Of a run of
    -- more than 1,024 steps not each step is here, and the first ones are further apart. What graphs held is left out.
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
    -- Number of the step, as the program counts. NULL: it gave none.
    step,
    -- How many steps of the process had begun with it: from 1.
    generation,
    -- Live at its end. Unit: bytes.
    live_bytes,
    -- Live allocations at its end. Unit: allocations.
    live_count,
    -- Live at its end less live before the first step. Unit: bytes.
    grown_bytes,
    -- 'marked' by the program or 'inferred'.
    source,
    -- 1: something of the recording was lost, or not kept, or had begun before it; 0: all is here.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    coalesce(f.label, '(no stack)'),
    step.number,
    step.generation,
    g.live_bytes,
    g.live_count,
    g.live_bytes - coalesce(b.live_bytes, 0),
    step.source,
    input.is_complete = 0 OR input.baseline = 'unknown' OR input.detail_begin_seq IS NOT NULL
FROM z_heap_place AS p
JOIN input ON input.input_id = p.input_id
CROSS JOIN z_site_step AS g ON g.heap_id = p.heap_id
LEFT JOIN z_site_step AS b ON b.heap_id = g.heap_id AND b.site_frame_id IS g.site_frame_id AND b.generation = 0
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
CROSS JOIN z_growth_step AS k
    ON k.process_id = p.process_id
    AND k.generation >= g.generation
    AND k.generation < coalesce(g.until_generation, 9223372036854775807)
CROSS JOIN step ON step.process_id = p.process_id AND step.generation = +k.generation
ORDER BY p.heap_id, step.generation, g.live_bytes DESC, g.site_frame_id;
