-- snapshot_rows.sql: the allocations of a device, with what snapshot_entries.sql makes entries of, in the order of their
-- rows. How an entry begins: alloc_code, where there is one; as a block of its own: is_own_block. How it ends: end_code.
-- With: snapshot_devices.part.sql
-- With: snapshot_streams.part.sql
WITH
    part (id, size_bytes, left_bytes) AS (
        SELECT
            r.split_from_id,
            sum(r.size_bytes),
            max(CASE WHEN r.address = a.address THEN r.size_bytes END)
        FROM allocation AS r
        JOIN allocation AS a ON a.allocation_id = r.split_from_id
        WHERE r.split_from_id IS NOT NULL
        GROUP BY r.split_from_id
    )
SELECT
    a.alloc_seq AS alloc_seq,
    CASE
        WHEN a.split_from_id IS NULL
            THEN CASE WHEN own.level <> 1 THEN 7 WHEN a.is_mapped = 1 THEN 6 ELSE 5 END
    END AS alloc_code,
    a.address AS address,
    CASE WHEN own.level = 1 THEN a.size_bytes ELSE coalesce(a.requested_bytes, a.size_bytes) END AS size_bytes,
    coalesce(a.requested_bytes, a.size_bytes) AS asked_bytes,
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
    own.start_ns + a.alloc_ns AS alloc_ns,
    own.level = 1 AND a.is_segment = 0 AND a.allocation_id NOT IN (
        SELECT w.segment_id
        FROM allocation AS w
        WHERE w.segment_id IS NOT NULL AND w.heap_id IN (SELECT heap_id FROM own WHERE level = 3)
    ) AS is_own_block,
    a.free_requested_seq AS free_requested_seq,
    CASE WHEN a.end_kind <> 4 THEN a.free_seq END AS free_seq,
    own.level <> 1 AND a.end_kind <> 4 AND a.free_seq = a.free_requested_seq + 1 AS is_at_once,
    CASE WHEN own.level <> 1 THEN 2 WHEN a.is_mapped = 1 THEN 4 ELSE 3 END AS end_code,
    coalesce(part.left_bytes, 0) AS left_bytes,
    CASE
        WHEN own.level <> 1 THEN coalesce(a.requested_bytes, a.size_bytes)
        ELSE a.size_bytes - coalesce(part.size_bytes, 0)
    END AS end_bytes,
    a.free_stack_id AS free_stack_id,
    own.start_ns + a.free_ns AS free_ns
FROM allocation AS a
CROSS JOIN own ON own.heap_id = a.heap_id
LEFT JOIN part ON part.id = a.allocation_id
WHERE own.number = :device
ORDER BY a.allocation_id;
