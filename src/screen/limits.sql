-- limits.sql: what makes every figure one of a part, each as a count; 0: it is not so.
SELECT
    NOT EXISTS (SELECT 1 FROM process)
        AND NOT EXISTS (
            SELECT 1
            FROM input
            WHERE events_seen > events_ingested OR bytes_cut > 0 OR state NOT IN ('ended', 'recovered')
        ) AS nobody_count,
    NOT EXISTS (SELECT 1 FROM process)
        AND EXISTS (
            SELECT 1
            FROM input
            WHERE events_seen > events_ingested OR bytes_cut > 0 OR state NOT IN ('ended', 'recovered')
        ) AS nobody_lost_count,
    (
        SELECT coalesce(sum(processes_left), 0)
        FROM input
        WHERE EXISTS (SELECT 1 FROM process)
    ) AS left_count,
    (SELECT coalesce(sum(blocks_outside_count), 0) FROM input) AS contradiction_count,
    (SELECT count(*) FROM input WHERE baseline = 'unknown') AS late_count,
    (SELECT count(*) FROM z_pause WHERE is_memory_told = 0) AS paused_count;
