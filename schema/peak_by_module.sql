-- What the peak was made of, by module of the model.

CREATE TABLE z_peak_module (
    -- What was live at the peak of a heap by the innermost part of a model in whose forward it was made. Shown by the view
    -- peak_by_module.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Path of the part: 'model.layers.3.mlp'.
    module TEXT,
    -- Allocations that were live. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL
);

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
