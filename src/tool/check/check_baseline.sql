-- check_baseline.sql: peaks of device memory by rank and heap, against those of the same name in the other database;
-- what is attached has no views.
-- Rows as: check_peaks.sql
WITH
    place (host, rank, pid, device, heap, level, size_basis, peak_bytes, is_base) AS (
        SELECT
            process.host,
            process.rank,
            process.pid,
            coalesce(device.physical_ordinal, device.ordinal),
            heap.name,
            heap_level.name,
            heap.size_basis,
            s.peak_bytes,
            0
        FROM main.z_heap_sum AS s
        JOIN main.heap ON heap.heap_id = s.heap_id
        LEFT JOIN main.process ON process.process_id = heap.process_id
        LEFT JOIN main.device ON device.device_id = heap.device_id
        LEFT JOIN main.heap_level ON heap_level.level = heap.level
        UNION ALL
        SELECT
            process.host,
            process.rank,
            process.pid,
            coalesce(device.physical_ordinal, device.ordinal),
            heap.name,
            heap_level.name,
            heap.size_basis,
            s.peak_bytes,
            1
        FROM base.z_heap_sum AS s
        JOIN base.heap ON heap.heap_id = s.heap_id
        LEFT JOIN base.process ON process.process_id = heap.process_id
        LEFT JOIN base.device ON device.device_id = heap.device_id
        LEFT JOIN base.heap_level ON heap_level.level = heap.level
    ),
    highest (host, rank, pid, device, heap, level, size_basis, peak_bytes, is_base) AS (
        SELECT host, rank, pid, device, heap, level, size_basis, max(peak_bytes), is_base
        FROM place
        WHERE (:rank IS NULL OR rank IS :rank)
            AND (:heap IS NULL OR heap IS :heap OR level IS :heap)
            AND (:heap IS NOT NULL OR (device IS NOT NULL AND level IN ('driver', 'pool')))
        GROUP BY is_base, rank, device, heap, level
    )
SELECT
    n.host AS host,
    n.rank AS rank,
    n.pid AS pid,
    n.device AS device,
    n.heap AS heap,
    n.level AS level,
    n.peak_bytes AS measured_value,
    CASE WHEN n.size_basis IS o.size_basis THEN o.peak_bytes ELSE 0 END AS limit_value,
    CASE
        WHEN o.peak_bytes IS NULL THEN 'not in the baseline'
        WHEN n.size_basis IS NOT o.size_basis THEN 'the baseline counts other sizes (' || o.size_basis || ')'
    END AS note
FROM highest AS n
LEFT JOIN highest AS o ON o.is_base = 1
    AND o.rank IS n.rank
    AND o.device IS n.device
    AND o.heap IS n.heap
    AND o.level IS n.level
WHERE n.is_base = 0 AND n.peak_bytes > 0;
