-- snapshot_others.sql: of snapshot_entries.sql those of a device that are of no allocation.
-- Rows as: snapshot_entries.sql
-- With: snapshot_devices.part.sql
SELECT
    own.number AS device,
    f.seq AS seq,
    8 AS action_code,
    f.device_free_bytes AS address,
    f.requested_bytes AS size_bytes,
    coalesce(f.stream, 0) AS stream,
    f.stack_id AS stack_id,
    0 AS pool_id,
    own.start_ns + f.ns AS ns
FROM failure AS f
JOIN own ON own.heap_id = f.heap_id
WHERE own.number = :device
UNION ALL
SELECT own.number, m.seq, 9, 0, 0, 0, NULL, 0, own.start_ns + m.ns
FROM moment AS m
JOIN own ON own.heap_id = (
        SELECT min(o.heap_id)
        FROM own AS o
        JOIN heap ON heap.heap_id = o.heap_id
        WHERE m.process_id IS NULL OR heap.process_id = m.process_id
    )
WHERE m.kind = 3
    AND m.name = 'snapshot'
    AND own.number = :device
ORDER BY 1, 2, 3, 4;
