-- untold_peaks.sql: devices that did not tell what is in use: the peak of what driver memory the programs held. Whose, as in
-- device_peaks.sql.
SELECT
    coalesce(device.physical_ordinal, device.ordinal) AS device,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    d.peak_bytes AS peak_bytes,
    device.capacity_bytes AS capacity_bytes,
    d.peak_ns AS peak_ns,
    d.peak_seq AS peak_seq,
    process.host AS host,
    CASE WHEN device.physical_ordinal IS NULL AND EXISTS (
        SELECT 1 FROM device AS o WHERE o.ordinal = device.ordinal AND o.device_id <> device.device_id
    ) THEN process.rank END AS rank,
    CASE WHEN device.physical_ordinal IS NULL AND EXISTS (
        SELECT 1 FROM device AS o WHERE o.ordinal = device.ordinal AND o.device_id <> device.device_id
    ) THEN process.pid END AS pid,
    (
        SELECT max(m.moment_id)
        FROM z_device_moment AS m
        WHERE m.moment_kind = 'device peak'
            AND m.device IS coalesce(device.physical_ordinal, device.ordinal)
            AND m.host IS process.host
            AND m.seq IS d.peak_seq
    ) AS moment_id
FROM z_device_sum AS d
JOIN device ON device.device_id = d.device_id
LEFT JOIN process ON process.process_id = device.process_id
WHERE d.peak_bytes > 0 AND NOT EXISTS (
    SELECT 1
    FROM z_device_moment AS m
    WHERE m.moment_kind = 'device peak'
        AND m.total_bytes IS NOT NULL
        AND m.used_bytes > 0
        AND m.device IS coalesce(device.physical_ordinal, device.ordinal)
        AND m.host IS process.host
)
    AND EXISTS (SELECT 1 FROM input WHERE peak_basis <> 'none')
ORDER BY process.host, coalesce(device.physical_ordinal, device.ordinal), d.peak_bytes DESC
LIMIT :most_count;
