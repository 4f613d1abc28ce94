-- uneven_sites.sql: sites of which one rank holds a quarter more than the mean, by more than a twentieth of the highest
-- peak of the heap: less is how jobs are. None where a part of a recording is missing.
SELECT
    i.max_rank AS rank,
    i.max_bytes AS max_bytes,
    i.site AS site,
    i.mean_bytes AS mean_bytes,
    i.rank_count AS rank_count
FROM rank_imbalance AS i
JOIN (
    SELECT w.heap, w.level, w.max_bytes
    FROM rank_imbalance AS w
    WHERE w.site = '(whole heap)'
) AS h ON h.heap IS i.heap AND h.level IS i.level
WHERE i.site NOT IN ('(whole heap)', '(stack cut)')
    AND i.is_partial = 0
    AND i.imbalance_ratio > 1.25
    AND (i.max_bytes - i.mean_bytes) * 20 > h.max_bytes
ORDER BY i.level = 'driver', i.max_bytes - i.mean_bytes DESC, i.site
LIMIT :most_count;
