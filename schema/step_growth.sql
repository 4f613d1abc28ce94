-- What of each site was live from step to step.

CREATE TABLE z_site_step (
    -- How much of a site was live at the end of a step; only where it was not what the row before it says. The baseline and
    -- what graphs held are left out. Shown by the view step_growth.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The site. NULL: no stack was recorded.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- The step, by step.generation; 0: what was before the first step.
    generation INTEGER NOT NULL,
    -- The step from which on it was otherwise. NULL: to the last step.
    until_generation INTEGER,
    -- Live at its end. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Live allocations at its end. Unit: allocations.
    live_count INTEGER NOT NULL
);

CREATE TABLE z_step_stride (
    -- Which steps z_site_step knows: of the first 1,024 generations each, later ever fewer, and always the last.
    --
    -- First generation that this row is about, up to that of the next row.
    first_generation INTEGER PRIMARY KEY,
    -- Known are the generations that it divides.
    stride INTEGER NOT NULL
);

INSERT INTO z_step_stride VALUES
    (0, 1), (1024, 2), (2048, 4), (4096, 8), (8192, 16), (16384, 32), (32768, 64), (65536, 128), (131072, 256),
    (262144, 512), (524288, 1024), (1048576, 2048), (2097152, 4096), (4194304, 8192), (8388608, 16384),
    (16777216, 32768), (33554432, 65536), (67108864, 131072), (134217728, 262144);

CREATE TABLE z_growth_step (
    -- The steps of each process that z_site_step knows, by table z_step_stride, and its last one. Shown by the view step_growth.
    --
    -- The process.
    process_id INTEGER NOT NULL REFERENCES process (process_id),
    -- The step, by step.generation.
    generation INTEGER NOT NULL,
    PRIMARY KEY (process_id, generation) ON CONFLICT IGNORE
) WITHOUT ROWID;

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
