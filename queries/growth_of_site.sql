-- growth_of_site.sql: how much of a site was live at the end of each step, and by how much that changed?
-- Parameters: :site   text within the site's 'file:line function' (default: the one site that grows most by the line of
--                     least squares)
--             :top    rows to return (default 1000)
-- Columns:    pid process; heap name; site file, line and function; step number, NULL where the program gave none;
--             live_bytes bytes; live_count allocations; change_bytes against the step before that is here, or against
--             what was live before the first, bytes
SELECT
    p.pid AS pid,
    p.heap AS heap,
    coalesce(f.label, '(no stack)') AS site,
    step.number AS step,
    g.live_bytes AS live_bytes,
    g.live_count AS live_count,
    CASE
        WHEN step.generation > g.generation THEN 0
        ELSE g.live_bytes - coalesce(
            (
                SELECT b.live_bytes
                FROM z_site_step AS b
                WHERE b.heap_id = g.heap_id AND b.site_frame_id IS g.site_frame_id AND b.generation < g.generation
                ORDER BY b.generation DESC
                LIMIT 1
            ),
            0
        )
    END AS change_bytes
FROM (
    SELECT
        w.heap_id,
        w.site_frame_id
    FROM z_site_step AS w
    LEFT JOIN frame AS o ON o.frame_id = w.site_frame_id
    WHERE :site IS NOT NULL AND instr(coalesce(o.label, '(no stack)'), :site) > 0
    GROUP BY w.heap_id, w.site_frame_id
    UNION ALL
    SELECT
        m.heap_id,
        m.site_frame_id
    FROM (
        SELECT
            y.heap_id,
            y.site_frame_id
        FROM z_site_growth AS y
        WHERE :site IS NULL AND y.growth_bytes_per_step > 0
        ORDER BY y.growth_bytes_per_step DESC, y.heap_id, y.site_frame_id
        LIMIT 1
    ) AS m
) AS v
JOIN z_site_step AS g ON g.heap_id = v.heap_id AND g.site_frame_id IS v.site_frame_id
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
JOIN step
    ON step.process_id = p.process_id
    AND step.generation >= g.generation
    AND step.generation < coalesce(g.until_generation, 9223372036854775807)
JOIN (SELECT s.process_id, max(s.generation) AS generation FROM step AS s GROUP BY s.process_id) AS last
    ON last.process_id = p.process_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
WHERE step.generation = last.generation
    OR step.generation % (
        SELECT x.stride
        FROM z_step_stride AS x
        WHERE x.first_generation <= step.generation
        ORDER BY x.first_generation DESC
        LIMIT 1
    ) = 0
ORDER BY g.heap_id, site, g.site_frame_id, step.generation
-- begin guard coalesce(:site, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:site, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
