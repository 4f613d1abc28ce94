-- trend_others.sql: how driver memory of other recorded processes on a device's hardware came and went.
-- After: trend_shared.sql
SELECT
    c.seq AS seq,
    c.change AS change_bytes
FROM shared_device AS s
JOIN hardware_change AS c ON c.hardware = s.hardware AND c.process_id <> s.process_id
WHERE s.device_id = :device_id
ORDER BY c.seq;
