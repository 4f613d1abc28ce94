-- highest_step.sql: in which step did each heap peak, how far above the others, and what was live then, by site?
-- Parameters: :share  sites that had at least this share of the peak, 0 to 1 (default 0.01)
-- Columns:    pid process; heap name; step number of the step that holds the peak, NULL before the first or where steps
--             are unknown; peak_bytes bytes; other_peak_bytes the highest peak of any other step, bytes, NULL where there
--             is none; site file, line and function; live_count allocations; live_bytes bytes; share_ratio 0 to 1;
--             carried_bytes what of the site was live already at the end of the step before, the baseline included, bytes,
--             0 for nothing, NULL where there is no step before (in runs of more than 1024 steps: at the end of the last
--             one before that view step_growth knows)
SELECT
    p.pid AS pid,
    p.heap AS heap,
    g.number AS step,
    g.peak_bytes AS peak_bytes,
    (
        SELECT max(o.peak_bytes)
        FROM z_step_sum AS o
        WHERE o.heap_id = g.heap_id AND o.generation > 0 AND o.generation IS NOT g.generation
    ) AS other_peak_bytes,
    CASE WHEN g.is_baseline = 1 THEN '(baseline)' ELSE coalesce(f.label, '(no stack)') END AS site,
    g.live_count AS live_count,
    g.live_bytes AS live_bytes,
    CAST(g.live_bytes AS REAL) / g.peak_bytes AS share_ratio,
    CASE
        WHEN g.generation > 1
            THEN g.older_bytes + coalesce(
                (
                    SELECT max(b.live_bytes)
                    FROM z_site_step AS b
                    WHERE g.is_baseline = 0
                        AND b.heap_id = g.heap_id
                        AND b.site_frame_id IS g.site_frame_id
                        AND b.generation < g.generation
                        AND (b.until_generation IS NULL OR b.until_generation >= g.generation)
                ),
                0
            )
    END AS carried_bytes
FROM (
    SELECT
        w.heap_id,
        w.peak_bytes,
        t.generation,
        t.number,
        k.is_baseline,
        s.site_frame_id,
        sum(k.live_count) AS live_count,
        sum(k.live_bytes) AS live_bytes,
        sum(k.older_bytes) AS older_bytes
    FROM z_heap_sum AS w
    JOIN z_peak_stack AS k ON k.heap_id = w.heap_id
    LEFT JOIN stack AS s ON s.stack_id = k.stack_id
    LEFT JOIN z_step_sum AS t
        ON t.heap_id = w.heap_id
        AND t.generation > 0
        AND t.begin_seq <= w.peak_seq
        AND (t.end_seq IS NULL OR t.end_seq > w.peak_seq)
    WHERE w.peak_bytes > 0
    GROUP BY w.heap_id, k.is_baseline, s.site_frame_id
) AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
WHERE g.live_bytes >= coalesce(:share, 0.01) * g.peak_bytes
ORDER BY g.heap_id, g.live_bytes DESC, g.is_baseline, g.site_frame_id
-- begin guard :share; -1
LIMIT CASE
    WHEN :share IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
