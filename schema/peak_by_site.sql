-- What the peak was made of, by site.

CREATE TABLE z_peak_stack (
    -- What was live at the peak of a heap, by stack. Shown by the view peak_by_site.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where it was allocated. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- 1: what was there before the recording began, and has no stack; 0: all else.
    is_baseline INTEGER NOT NULL,
    -- Allocations. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- What of live_bytes was there before the recording began, as far as that is known, without what graphs hold. Unit: bytes.
    older_bytes INTEGER NOT NULL
);

CREATE INDEX peak_stack_heap ON z_peak_stack (heap_id);

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
