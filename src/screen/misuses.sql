-- misuses.sql: kinds of misuse, the most frequent first, each with the site of the first.
SELECT
    kind,
    count(*) AS misuse_count,
    min(anomaly_id) AS first_id,
    site
FROM misuse
GROUP BY kind
ORDER BY count(*) DESC, kind
LIMIT 4;
