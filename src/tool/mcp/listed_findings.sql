-- listed_findings.sql: findings that are judged, the gravest first: those that are good (:is_good), or the others; of a :kind, a
-- :severity and a :rank or of all.
SELECT
    finding_id,
    substr(sentence, 3, instr(substr(sentence, 3), '"') - 1) AS code,
    severity,
    kind,
    text,
    host,
    rank,
    pid,
    device,
    heap,
    level,
    site,
    verdict,
    CASE basis WHEN 'estimate' THEN 'estimate' ELSE 'recorded' END AS basis,
    CASE basis WHEN 'bound' THEN 1 END AS is_bound,
    value,
    unit,
    bytes,
    count,
    source_view
FROM finding
WHERE severity <> 'not judged'
    AND (severity = 'good') = :is_good
    AND (:kind IS NULL OR kind = :kind)
    AND (:severity IS NULL OR severity = :severity)
    AND (:rank IS NULL OR rank = :rank)
ORDER BY CASE severity WHEN 'fault' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, finding_id;
