-- finding_said.sql: what a finding rests on, to be put into words.
SELECT
    rank,
    pid,
    device,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    heap,
    site,
    stack_id,
    evidence,
    remedy,
    next_command,
    source_view
FROM finding
WHERE finding_id = :finding_id;
