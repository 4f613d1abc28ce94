-- shared_devices.sql: each device with its peak and how many held memory of it, the fullest first; none where each is of one
-- and all are of one size.
SELECT
    host,
    device,
    peak_bytes,
    capacity_bytes,
    holder_count,
    all_count
FROM (
    SELECT
        host,
        device,
        peak_bytes,
        coalesce(capacity_bytes, -1) AS capacity_bytes,
        holder_count,
        count(*) OVER () AS all_count,
        max(holder_count) OVER () AS most_holder_count,
        min(coalesce(capacity_bytes, -1)) OVER () AS least_capacity_bytes,
        max(coalesce(capacity_bytes, -1)) OVER () AS most_capacity_bytes
    FROM device_peak
)
WHERE most_holder_count > 1 OR least_capacity_bytes <> most_capacity_bytes
ORDER BY CAST(peak_bytes AS REAL) / nullif(max(capacity_bytes, 0), 0) DESC, peak_bytes DESC, host, device
LIMIT :most_count;
