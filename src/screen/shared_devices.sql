-- shared_devices.sql: each device with its peak and how many ranks, or processes that have none, held memory of it, the
-- fullest first; none where each device is of one rank and all are of one size.
SELECT
    host,
    device,
    peak_bytes,
    capacity_bytes,
    holder_count,
    all_count
FROM (
    SELECT
        p.host AS host,
        coalesce(d.physical_ordinal, d.ordinal) AS device,
        s.peak_bytes AS peak_bytes,
        coalesce(d.capacity_bytes, -1) AS capacity_bytes,
        o.holder_count AS holder_count,
        p.input_id AS input_id,
        count(*) OVER () AS all_count,
        max(o.holder_count) OVER () AS most_holder_count,
        min(coalesce(d.capacity_bytes, -1)) OVER () AS least_capacity_bytes,
        max(coalesce(d.capacity_bytes, -1)) OVER () AS most_capacity_bytes
    FROM z_device_sum AS s
    JOIN device AS d ON d.device_id = s.device_id
    JOIN process AS p ON p.process_id = d.process_id
    JOIN (
        SELECT
            q.input_id AS input_id,
            q.host AS host,
            coalesce(e.physical_ordinal, e.ordinal) AS device,
            count(DISTINCT coalesce(q.rank, -q.process_id)) AS holder_count
        FROM z_heap_sum AS u
        JOIN heap AS h ON h.heap_id = u.heap_id
        JOIN device AS e ON e.device_id = h.device_id
        JOIN process AS q ON q.process_id = e.process_id
        WHERE u.peak_bytes > 0
        GROUP BY q.input_id, q.host, coalesce(e.physical_ordinal, e.ordinal)
    ) AS o ON o.input_id = p.input_id AND o.host IS p.host AND o.device = coalesce(d.physical_ordinal, d.ordinal)
)
WHERE most_holder_count > 1 OR least_capacity_bytes <> most_capacity_bytes
ORDER BY CAST(peak_bytes AS REAL) / nullif(max(capacity_bytes, 0), 0) DESC, peak_bytes DESC, host, device, input_id
LIMIT :most_count;
