-- findings.sql: findings of a kind that something is wrong, that of the row :first_id of its view before others.
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
WHERE kind = :kind AND severity IN ('fault', 'warning')
ORDER BY source_id IS NOT :first_id, finding_id
LIMIT :most_count;
