-- trend_foreign.sql: what a device's hardware said last that is in use beyond what was recorded of it, and its size.
SELECT
    max(0, total_bytes - free_bytes - sample_recorded_bytes) AS foreign_bytes,
    total_bytes
FROM z_device_sample
WHERE device_id = :device_id AND sample_recorded_bytes IS NOT NULL
ORDER BY sample_seq DESC
LIMIT 1;
