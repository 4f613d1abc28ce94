-- heaviest_rank.sql: which rank of a job needs most device memory, and in which component and site is it above the others?
-- Parameters: :top    rows to return (default 20)
-- Columns:    rank of the highest peak, of equal ones the first; peak_bytes its peak and mean_peak_bytes the mean of all
--             ranks, bytes; rank_count ranks; part 'component' (of the peak of the device) or 'site' (of the peak of a
--             heap); heap name of the heap, NULL of a component; name of the component, as in rank_summary.sql, or of the
--             site; bytes of that rank, bytes; mean_bytes mean of all ranks, bytes; above_bytes by how much it is above
--             that, bytes. Only what is above the mean is listed
WITH
    peak_of (rank, pool_live, pool_free, workspace, program, module, physical, rounding, bytes) AS (
        SELECT
            r.rank,
            sum(r.pool_live_bytes),
            sum(r.pool_bytes - r.pool_live_bytes),
            sum(r.workspace_bytes),
            sum(r.program_bytes),
            sum(r.module_bytes),
            sum(r.physical_bytes),
            sum(r.rounding_bytes),
            sum(r.peak_bytes)
        FROM z_rank_summary AS r
        WHERE r.rank IS NOT NULL AND r.peak_bytes IS NOT NULL
        GROUP BY r.rank
    ),
    highest (rank, bytes, mean_bytes, rank_count) AS (
        SELECT
            t.rank,
            t.bytes,
            m.mean_bytes,
            m.rank_count
        FROM peak_of AS t
        JOIN (SELECT sum(o.bytes) / count(*) AS mean_bytes, count(*) AS rank_count FROM peak_of AS o) AS m
        ORDER BY t.bytes DESC, t.rank
        LIMIT 1
    ),
    component (rank, name, bytes) AS (
        SELECT
            t.rank,
            n.name,
            CASE n.place
                WHEN 1 THEN t.pool_live
                WHEN 2 THEN t.pool_free
                WHEN 3 THEN t.workspace
                WHEN 4 THEN t.program
                WHEN 5 THEN t.module
                WHEN 6 THEN t.physical
                ELSE t.rounding
            END
        FROM peak_of AS t
        JOIN (
            SELECT 1 AS place, 'blocks of pools' AS name
            UNION ALL SELECT 2, 'free in pools'
            UNION ALL SELECT 3, 'workspaces'
            UNION ALL SELECT 4, 'program'
            UNION ALL SELECT 5, 'modules'
            UNION ALL SELECT 6, 'physical'
            UNION ALL SELECT 7, 'rest of pages'
        ) AS n
    )
SELECT
    h.rank AS rank,
    h.bytes AS peak_bytes,
    h.mean_bytes AS mean_peak_bytes,
    h.rank_count AS rank_count,
    d.part AS part,
    d.heap AS heap,
    d.name AS name,
    d.bytes AS bytes,
    d.mean_bytes AS mean_bytes,
    d.bytes - d.mean_bytes AS above_bytes
FROM highest AS h
JOIN (
    SELECT
        'component' AS part,
        NULL AS heap,
        c.name,
        max(CASE WHEN c.rank = x.rank THEN c.bytes END) AS bytes,
        sum(c.bytes) / x.rank_count AS mean_bytes,
        x.rank
    FROM component AS c
    JOIN highest AS x
    GROUP BY c.name
    UNION ALL
    SELECT
        'site',
        i.heap,
        i.site,
        i.max_bytes,
        i.mean_bytes,
        i.max_rank
    FROM rank_imbalance AS i
    WHERE i.site NOT IN ('(whole heap)', '(stack cut)')
) AS d ON d.rank = h.rank AND d.bytes > d.mean_bytes
WHERE h.rank_count > 1
ORDER BY d.part, above_bytes DESC, d.heap, d.name
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
