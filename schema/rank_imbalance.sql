-- At which sites ranks differ.

-- catalog: first 17, not counted
CREATE VIEW rank_imbalance (
    -- At which sites the ranks of a job differ: one row per heap (its name and level) and site, over the peaks of all ranks
    -- that have the heap; the largest difference first. The row '(whole heap)' is of their peaks; '(stack cut)', of what has
    -- no site (frame.is_cut), is there to be seen and is not compared. Processes without a rank are left out; several of one rank, in one input, count as one.
    --
    -- Always NULL: of several ranks.
    host,
    -- Always NULL: of several ranks.
    rank,
    -- Always NULL: of several ranks.
    pid,
    -- Always NULL: of several ranks.
    device,
    -- Name of the heap.
    heap,
    -- Level of the heap.
    level,
    -- Where: 'file:line function', 'module+0xoffset function', '(no stack)', '(stack cut)', '(baseline)' or '(whole heap)'.
    site,
    -- Ranks that have the heap. Unit: ranks.
    rank_count,
    -- Of these, how many had nothing of the site. Unit: ranks.
    absent_count,
    -- Most that one of them had live at the peak of its heap. Unit: bytes.
    max_bytes,
    -- Which rank that is; of equal ones the first.
    max_rank,
    -- Least that one of them had; 0 where one had nothing. Unit: bytes.
    min_bytes,
    -- Which rank that is; of equal ones the first. NULL: it had nothing of the site.
    min_rank,
    -- Mean over rank_count. Unit: bytes.
    mean_bytes,
    -- max_bytes - min_bytes. Unit: bytes. NULL: '(stack cut)'.
    spread_bytes,
    -- max_bytes over mean_bytes: 1 is balance. Unit: ratio. NULL: '(stack cut)'.
    imbalance_ratio,
    -- Most allocations of the site that one of them had live. Unit: allocations. NULL: the whole heap.
    max_count,
    -- 1: part of an input of one of them is missing, or it was paused or ran before its recording began; 0: not.
    is_partial
) AS
WITH
    place (heap_id, heap, level, input_id, rank, is_partial) AS (
        SELECT
            heap.heap_id,
            heap.name,
            heap.level,
            process.input_id,
            process.rank,
            input.is_complete = 0 OR input.baseline = 'unknown'
                OR EXISTS (SELECT 1 FROM z_pause AS q WHERE q.process_id = process.process_id AND q.is_memory_told = 0)
        FROM heap
        JOIN process ON process.process_id = heap.process_id
        JOIN input ON input.input_id = process.input_id
        WHERE process.rank IS NOT NULL
    ),
    member (heap, level, rank_count, is_partial) AS (
        SELECT
            r.heap,
            r.level,
            count(*),
            max(r.is_partial)
        FROM (
            SELECT
                place.heap,
                place.level,
                max(place.is_partial) AS is_partial
            FROM place
            GROUP BY place.heap, place.level, place.input_id, place.rank
        ) AS r
        GROUP BY r.heap, r.level
    ),
    part (heap, level, site, rank, input_id, live_bytes, live_count) AS (
        SELECT
            place.heap,
            place.level,
            CASE
                WHEN k.is_baseline = 1 THEN '(baseline)'
                WHEN f.is_cut = 1 THEN '(stack cut)'
                ELSE coalesce(f.label, '(no stack)')
            END AS site,
            place.rank,
            place.input_id,
            sum(k.live_bytes),
            sum(k.live_count)
        FROM place
        JOIN z_peak_stack AS k ON k.heap_id = place.heap_id
        LEFT JOIN stack AS s ON s.stack_id = k.stack_id
        LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
        GROUP BY
            place.heap,
            place.level,
            CASE
                WHEN k.is_baseline = 1 THEN '(baseline)'
                WHEN f.is_cut = 1 THEN '(stack cut)'
                ELSE coalesce(f.label, '(no stack)')
            END,
            place.input_id,
            place.rank
        UNION ALL
        SELECT
            place.heap,
            place.level,
            '(whole heap)',
            place.rank,
            place.input_id,
            sum(w.peak_bytes),
            NULL
        FROM place
        JOIN z_heap_sum AS w ON w.heap_id = place.heap_id
        GROUP BY place.heap, place.level, place.input_id, place.rank
    ),
    ranked (heap, level, site, rank, live_bytes, live_count, most, least) AS (
        SELECT
            part.heap,
            part.level,
            part.site,
            part.rank,
            part.live_bytes,
            part.live_count,
            row_number() OVER (
                PARTITION BY part.heap, part.level, part.site ORDER BY part.live_bytes DESC, part.rank, part.input_id
            ),
            row_number() OVER (
                PARTITION BY part.heap, part.level, part.site ORDER BY part.live_bytes, part.rank, part.input_id
            )
        FROM part
    ),
    folded (heap, level, site, part_count, max_bytes, max_rank, min_bytes, min_rank, live_bytes, max_count) AS (
        SELECT
            ranked.heap,
            ranked.level,
            ranked.site,
            count(*),
            max(ranked.live_bytes),
            max(CASE WHEN ranked.most = 1 THEN ranked.rank END),
            min(ranked.live_bytes),
            max(CASE WHEN ranked.least = 1 THEN ranked.rank END),
            sum(ranked.live_bytes),
            max(ranked.live_count)
        FROM ranked
        GROUP BY ranked.heap, ranked.level, ranked.site
    )
SELECT
    NULL,
    NULL,
    NULL,
    NULL,
    g.heap,
    l.name,
    g.site,
    m.rank_count,
    m.rank_count - g.part_count,
    g.max_bytes,
    g.max_rank,
    CASE WHEN g.part_count < m.rank_count THEN 0 ELSE g.min_bytes END,
    CASE WHEN g.part_count = m.rank_count THEN g.min_rank END,
    g.live_bytes / m.rank_count,
    CASE
        WHEN g.site <> '(stack cut)'
            THEN g.max_bytes - CASE WHEN g.part_count < m.rank_count THEN 0 ELSE g.min_bytes END
    END,
    CASE WHEN g.live_bytes > 0 AND g.site <> '(stack cut)' THEN CAST(g.max_bytes AS REAL) * m.rank_count / g.live_bytes END,
    g.max_count,
    m.is_partial
FROM folded AS g
JOIN member AS m ON m.heap IS g.heap AND m.level IS g.level
LEFT JOIN heap_level AS l ON l.level = g.level
WHERE m.rank_count > 1
ORDER BY
    g.site = '(stack cut)',
    g.max_bytes - CASE WHEN g.part_count < m.rank_count THEN 0 ELSE g.min_bytes END DESC,
    g.heap,
    g.level,
    g.site;
