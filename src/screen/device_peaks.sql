-- device_peaks.sql: each device that tells what is in use, at its peak, with how much of what, and whether that is an
-- estimate. Whose it is, where the numbers of devices are those of their processes and several have this one.
WITH
    c AS (
        SELECT
            t.hardware_id,
            m.moment_id,
            m.ns,
            row_number() OVER (PARTITION BY t.hardware_id ORDER BY m.moment_id, t.device_id) AS place
        FROM moment AS m
        JOIN z_device_sample AS t ON t.moment_id = m.moment_id
        WHERE m.kind = 5 AND t.total_bytes IS NOT NULL
    )
SELECT
    c.moment_id AS moment_id,
    coalesce(device.physical_ordinal, device.ordinal) AS device,
    upper(device.kind) AS device_kind,
    (
        SELECT max(d.used_bytes)
        FROM z_device_moment AS d
        WHERE d.moment_id = c.moment_id AND d.device_id = s.device_id
    ) AS used_bytes,
    s.total_bytes AS total_bytes,
    c.ns AS ns,
    s.is_stale AS is_stale,
    process.host AS host,
    CASE WHEN device.physical_ordinal IS NULL AND EXISTS (
        SELECT 1 FROM device AS o WHERE o.ordinal = device.ordinal AND o.device_id <> device.device_id
    ) THEN process.rank END AS rank,
    CASE WHEN device.physical_ordinal IS NULL AND EXISTS (
        SELECT 1 FROM device AS o WHERE o.ordinal = device.ordinal AND o.device_id <> device.device_id
    ) THEN process.pid END AS pid
FROM c
JOIN z_device_sample AS s ON s.moment_id = c.moment_id AND s.hardware_id = c.hardware_id
JOIN device ON device.device_id = c.hardware_id
LEFT JOIN process ON process.process_id = device.process_id
LEFT JOIN input ON input.input_id = process.input_id
WHERE c.place = 1 AND input.peak_basis IS NOT 'none'
GROUP BY c.hardware_id
ORDER BY process.host, coalesce(device.physical_ordinal, device.ordinal), c.hardware_id
LIMIT :most_count;
