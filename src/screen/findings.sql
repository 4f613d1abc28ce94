-- findings.sql: findings of a kind, or without one all others than leaks, misuse and memory that ran out, that are not good, or
-- only those that are too little to matter; that of the row :first_id of its view before others.
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
WHERE CASE WHEN :kind IS NULL THEN kind NOT IN ('leak', 'suspect', 'misuse', 'out of memory') ELSE kind = :kind END
    AND (severity IN ('fault', 'warning', 'minor') OR kind = 'suspect')
    AND (severity = 'minor') = :is_minor
ORDER BY source_id IS NOT :first_id, finding_id
LIMIT :most_count;
