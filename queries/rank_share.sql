-- rank_share.sql: what share of the job's device memory, and of its leaks, is each rank's?
-- Parameters: :top    rows to return (default 1000)
-- Columns:    rank; host name of its machine; peak_bytes sum of its peaks over its devices, as in rank_summary.sql, bytes;
--             share_ratio of the sum over all ranks, 0 to 1; of_mean_ratio over the mean of the ranks, 1 is like the others;
--             highest_share_ratio peak over the device's memory on its fullest device, 0 to 1, NULL where that is not known;
--             leak_bytes firm leaks, bytes; leak_share_ratio of those of all ranks, 0 to 1, NULL where there are none;
--             allocated_bytes all that the driver gave it, bytes. Highest peak first
WITH
    peak_of (rank, host, bytes, highest_share_ratio) AS (
        SELECT
            r.rank,
            min(r.host),
            sum(r.peak_bytes),
            max(r.share_ratio)
        FROM z_rank_summary AS r
        WHERE r.rank IS NOT NULL AND r.peak_bytes IS NOT NULL
        GROUP BY r.rank
    ),
    leak_of (rank, bytes) AS (
        SELECT
            l.rank,
            sum(l.leak_bytes)
        FROM leak_by_site AS l
        WHERE l.rank IS NOT NULL AND l.device IS NOT NULL
        GROUP BY l.rank
    ),
    total_of (rank, bytes) AS (
        SELECT
            t.rank,
            sum(t.allocated_bytes)
        FROM heap_total AS t
        WHERE t.rank IS NOT NULL AND t.level = 'driver'
        GROUP BY t.rank
    )
SELECT
    p.rank AS rank,
    p.host AS host,
    p.bytes AS peak_bytes,
    CAST(p.bytes AS REAL) / w.bytes AS share_ratio,
    CAST(p.bytes AS REAL) * w.rank_count / w.bytes AS of_mean_ratio,
    p.highest_share_ratio AS highest_share_ratio,
    coalesce(l.bytes, 0) AS leak_bytes,
    CASE WHEN w.leak_bytes > 0 THEN CAST(coalesce(l.bytes, 0) AS REAL) / w.leak_bytes END AS leak_share_ratio,
    coalesce(t.bytes, 0) AS allocated_bytes
FROM peak_of AS p
JOIN (
    SELECT
        sum(o.bytes) AS bytes,
        count(*) AS rank_count,
        (SELECT sum(k.bytes) FROM leak_of AS k) AS leak_bytes
    FROM peak_of AS o
) AS w
LEFT JOIN leak_of AS l ON l.rank = p.rank
LEFT JOIN total_of AS t ON t.rank = p.rank
ORDER BY p.bytes DESC, p.rank
-- begin guard :top; coalesce(:top, 1000)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
