-- unjudged.sql: what nothing can be said of, and why, of a :kind, a :severity and a :rank or of all; what says the same
-- once.
SELECT
    min(finding_id) AS finding_id,
    kind,
    text,
    reason,
    count(*) AS finding_count
FROM finding
WHERE severity = 'not judged'
    AND (:kind IS NULL OR kind = :kind)
    AND (:severity IS NULL OR severity = :severity)
    AND (:rank IS NULL OR rank = :rank)
GROUP BY kind, text, reason
ORDER BY min(finding_id);
