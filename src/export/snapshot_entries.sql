-- snapshot_entries.sql: what happened, device after device, in the order of events; action_code is of the enum in
-- export_snapshot.c. Remainders of what was unmapped in part are no events: the part is what they leave. What was
-- replaced, or went with a reset, has no event of its own; after a reset it is freed all the same, or viewers would
-- show it for ever. CROSS keeps SQLite from an index of its own over all allocations: one pass over them is enough.
-- From :device and :from_seq on. What snapshot_order.c makes of allocations is the same in one pass; this sorts.
-- With: snapshot_devices.part.sql
-- With: snapshot_streams.part.sql
-- With: snapshot_cuts.part.sql
SELECT
    own.number AS device,
    a.alloc_seq AS seq,
    CASE WHEN own.level <> 1 THEN 7 WHEN a.is_mapped = 1 THEN 6 ELSE 5 END AS action_code,
    a.address AS address,
    CASE WHEN own.level = 1 THEN a.size_bytes ELSE coalesce(a.requested_bytes, a.size_bytes) END AS size_bytes,
    coalesce(
        a.stream,
        CASE
            WHEN a.is_mapped = 0 THEN (
                SELECT c.stream
                FROM carried AS c
                WHERE c.id = CASE WHEN own.level = 1 THEN a.allocation_id ELSE a.segment_id END
            )
        END,
        0
    ) AS stream,
    a.stack_id AS stack_id,
    coalesce(a.private_pool, 0) AS pool_id,
    own.start_ns + a.alloc_ns AS ns
FROM allocation AS a
CROSS JOIN own ON own.heap_id = a.heap_id
WHERE a.alloc_seq IS NOT NULL
    AND a.split_from_id IS NULL
    AND (own.number, a.alloc_seq) >= (:device, :from_seq)
UNION ALL
SELECT
    own.number,
    a.alloc_seq,
    7,
    a.address,
    coalesce(a.requested_bytes, a.size_bytes),
    coalesce(
        a.stream,
        CASE WHEN a.is_mapped = 0 THEN (SELECT c.stream FROM carried AS c WHERE c.id = a.allocation_id) END,
        0
    ),
    a.stack_id,
    coalesce(a.private_pool, 0),
    own.start_ns + a.alloc_ns
FROM allocation AS a
CROSS JOIN own ON own.heap_id = a.heap_id
WHERE a.alloc_seq IS NOT NULL
    AND (own.number, a.alloc_seq) >= (:device, :from_seq)
    AND own.level = 1
    AND a.is_segment = 0
    AND a.allocation_id NOT IN (
        SELECT w.segment_id
        FROM allocation AS w
        WHERE w.segment_id IS NOT NULL AND w.heap_id IN (SELECT heap_id FROM own WHERE level = 3)
    )
UNION ALL
SELECT
    own.number,
    a.free_requested_seq,
    1,
    a.address,
    coalesce(a.requested_bytes, a.size_bytes),
    coalesce(
        a.stream,
        CASE
            WHEN a.is_mapped = 0 THEN (
                SELECT c.stream
                FROM carried AS c
                WHERE c.id = CASE WHEN own.level = 1 THEN a.allocation_id ELSE a.segment_id END
            )
        END,
        0
    ),
    a.free_stack_id,
    0,
    NULL
FROM allocation AS a
CROSS JOIN own ON own.heap_id = a.heap_id
WHERE a.free_requested_seq IS NOT NULL
    AND (own.number, a.free_requested_seq) >= (:device, :from_seq)
    AND NOT coalesce(own.level <> 1 AND a.end_kind <> 4 AND a.free_seq = a.free_requested_seq + 1, 0)
UNION ALL
SELECT
    own.number,
    CASE
        WHEN own.level <> 1 AND a.end_kind <> 4 AND a.free_seq = a.free_requested_seq + 1 THEN a.free_requested_seq
        ELSE a.free_seq
    END,
    CASE
        WHEN own.level <> 1 AND a.end_kind <> 4 AND a.free_seq = a.free_requested_seq + 1 THEN 0
        WHEN own.level <> 1 THEN 2
        WHEN a.is_mapped = 1 THEN 4
        ELSE 3
    END,
    a.address + coalesce(part.left_bytes, 0),
    CASE
        WHEN own.level <> 1 THEN coalesce(a.requested_bytes, a.size_bytes)
        ELSE a.size_bytes - coalesce(part.size_bytes, 0)
    END,
    coalesce(
        a.stream,
        CASE
            WHEN a.is_mapped = 0 THEN (
                SELECT c.stream
                FROM carried AS c
                WHERE c.id = CASE WHEN own.level = 1 THEN a.allocation_id ELSE a.segment_id END
            )
        END,
        0
    ),
    a.free_stack_id,
    0,
    own.start_ns + a.free_ns
FROM allocation AS a
CROSS JOIN own ON own.heap_id = a.heap_id
LEFT JOIN part ON part.id = a.allocation_id
WHERE a.free_seq IS NOT NULL
    AND a.end_kind <> 4
    AND (
        own.number,
        CASE
            WHEN own.level <> 1 AND a.free_seq = a.free_requested_seq + 1 THEN a.free_requested_seq
            ELSE a.free_seq
        END
    ) >= (:device, :from_seq)
UNION ALL
SELECT
    own.number,
    a.free_seq,
    2,
    a.address,
    coalesce(a.requested_bytes, a.size_bytes),
    coalesce(
        a.stream,
        CASE WHEN a.is_mapped = 0 THEN (SELECT c.stream FROM carried AS c WHERE c.id = a.allocation_id) END,
        0
    ),
    a.free_stack_id,
    0,
    own.start_ns + a.free_ns
FROM allocation AS a
CROSS JOIN own ON own.heap_id = a.heap_id
WHERE a.free_seq IS NOT NULL
    AND (own.number, a.free_seq) >= (:device, :from_seq)
    AND a.end_kind <> 4
    AND own.level = 1
    AND a.is_segment = 0
    AND a.allocation_id NOT IN (
        SELECT w.segment_id
        FROM allocation AS w
        WHERE w.segment_id IS NOT NULL AND w.heap_id IN (SELECT heap_id FROM own WHERE level = 3)
    )
UNION ALL
SELECT
    own.number,
    f.seq,
    8,
    f.device_free_bytes,
    f.requested_bytes,
    coalesce(f.stream, 0),
    f.stack_id,
    0,
    own.start_ns + f.ns
FROM failure AS f
JOIN own ON own.heap_id = f.heap_id
WHERE (own.number, f.seq) >= (:device, :from_seq)
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
    AND (own.number, m.seq) >= (:device, :from_seq)
ORDER BY 1, 2, 3, 4;
