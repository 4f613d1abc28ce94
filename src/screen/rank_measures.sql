-- rank_measures.sql: each measure that is not good on some, how many these are, and which is the worst: of shares that
-- should be high, the lowest.
SELECT
    measure,
    verdict,
    count(DISTINCT coalesce('r' || rank, coalesce(host, '') || ' ' || pid)) AS holder_count,
    max(CASE WHEN measure IN ('pool hit rate', 'zero copy') THEN -value ELSE value END) AS worst_value,
    rank IS NOT NULL AS has_rank,
    coalesce(rank, pid) AS number,
    value AS measured_value
FROM (SELECT * FROM health WHERE verdict IN ('danger', 'warning') ORDER BY rank, pid) AS h
GROUP BY measure, verdict
ORDER BY verdict, measure;
