-- What the peak was made of, by what it is for.

CREATE TABLE z_peak_category (
    -- What was live at the peak of a heap by what it was for, where that is known. Shown by the view peak_by_category.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- What it was for.
    category_id INTEGER NOT NULL REFERENCES z_category (category_id),
    -- The program's own word for it. NULL: it is one of table z_category.
    own_name TEXT,
    -- Allocations that were live. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL
);

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
