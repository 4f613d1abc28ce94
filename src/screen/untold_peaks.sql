-- untold_peaks.sql: devices that did not tell what is in use: the peak of what driver memory the programs held.
SELECT
    d.device AS device,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    d.peak_bytes AS peak_bytes,
    d.capacity_bytes AS capacity_bytes,
    d.peak_ns AS peak_ns,
    d.peak_seq AS peak_seq,
    d.host AS host,
    (
        SELECT max(m.moment_id)
        FROM z_device_moment AS m
        WHERE m.moment_kind = 'device peak' AND m.device IS d.device AND m.host IS d.host AND m.seq IS d.peak_seq
    ) AS moment_id
FROM device_peak AS d
WHERE d.peak_bytes > 0 AND NOT EXISTS (
    SELECT 1
    FROM z_device_moment AS m
    WHERE m.moment_kind = 'device peak'
        AND m.total_bytes IS NOT NULL
        AND m.used_bytes > 0
        AND m.device IS d.device
        AND m.host IS d.host
)
    AND EXISTS (SELECT 1 FROM input WHERE peak_basis <> 'none')
ORDER BY d.host, d.device, d.peak_bytes DESC
LIMIT :most_count;
