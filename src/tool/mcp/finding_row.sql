-- finding_row.sql: a finding, but for what is put into words.
SELECT
    finding_id,
    severity,
    kind,
    text,
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
    value,
    unit,
    bytes,
    count,
    moment,
    seq,
    stack_id,
    source_view,
    source_id
FROM finding
WHERE finding_id = :finding_id;
