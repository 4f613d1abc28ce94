-- rank_leaks.sql: sites that leak, over all processes; the number is of the rank, or where there is none the process,
-- that leaks most there.
SELECT
    g.site AS site,
    g.bytes AS leak_bytes,
    g.blocks AS leak_count,
    CASE WHEN :is_by_rank THEN g.rank_count ELSE g.process_count END AS holder_count,
    g.rank IS NOT NULL AS has_rank,
    coalesce(g.rank, g.pid) AS number,
    v.bytes_per_step AS late_bytes_per_step,
    count(*) OVER () AS site_count
FROM (
    SELECT
        p.site,
        p.verdict,
        sum(p.bytes) AS bytes,
        sum(p.blocks) AS blocks,
        count(DISTINCT p.rank) AS rank_count,
        count(*) AS process_count,
        max(p.bytes),
        p.rank,
        p.pid
    FROM (
        SELECT
            coalesce(f.label, '(no stack)') AS site,
            l.verdict,
            sum(l.size_bytes) AS bytes,
            sum(l.allocation_count) AS blocks,
            q.rank,
            q.pid
        FROM z_leak_sum AS l
        JOIN heap AS h ON h.heap_id = l.heap_id
        JOIN process AS q ON q.process_id = h.process_id
        LEFT JOIN frame AS f ON f.frame_id = l.site_frame_id
        GROUP BY 1, 2, q.process_id
        ORDER BY q.rank, q.process_id
    ) AS p
    GROUP BY p.site, p.verdict
) AS g
LEFT JOIN (
    SELECT site, verdict, max(late_bytes_per_step) AS bytes_per_step
    FROM leak_by_site
    GROUP BY site, verdict
) AS v ON v.site = g.site AND v.verdict = g.verdict
ORDER BY g.verdict = 'unreleased', g.bytes DESC, g.site, g.verdict
LIMIT :most_count;
