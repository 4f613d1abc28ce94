-- measure_findings.sql: findings on measures of view health that are not good, or those that are too little to matter.
-- Rows as: findings.sql
SELECT
    finding_id,
    severity,
    kind,
    rank,
    pid,
    device,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    heap,
    site,
    bytes,
    sentence,
    evidence,
    remedy,
    count(*) OVER () AS all_count,
    sum(severity = 'warning') OVER () AS warning_count,
    sum(bytes) OVER () AS all_bytes
FROM finding
WHERE source_view = 'health' AND severity IN ('fault', 'warning', 'minor') AND (severity = 'minor') = :is_minor
ORDER BY finding_id
LIMIT :most_count;
