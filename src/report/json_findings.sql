-- json_findings.sql: findings of a kind, of a severity, with a text in their site's label, or one by its number, where these are given:
-- those that are judged, or the others.
SELECT
    finding_id,
    severity,
    kind,
    reason,
    host,
    rank,
    pid,
    device,
    heap,
    level,
    site,
    verdict,
    basis,
    value AS found_value,
    unit,
    bytes,
    count,
    moment,
    sentence,
    evidence,
    remedy,
    next_command,
    source_view,
    source_id
FROM finding
WHERE (severity <> 'not judged') = :is_judged
    AND (:kind IS NULL OR kind = :kind)
    AND (:severity IS NULL OR severity = :severity)
    AND (:site IS NULL OR instr(site, :site) > 0)
    AND (:finding_id IS NULL OR finding_id = :finding_id)
ORDER BY finding_id;
