-- snapshot_blocks.sql: segments that are there at the end, or blocks, in the order of their addresses. A block whose
-- size is not known is as large as it must be at least; driver memory that carries no blocks is its own block.
-- With: snapshot_devices.part.sql
-- With: snapshot_streams.part.sql
SELECT
    own.number AS device,
    a.address AS address,
    CASE
        WHEN :is_block THEN coalesce(
            a.block_bytes,
            (coalesce(a.requested_bytes, a.size_bytes) + :padding_bytes + :round_bytes - 1)
                / :round_bytes * :round_bytes
        )
        ELSE a.size_bytes
    END AS size_bytes,
    CASE WHEN :is_block THEN coalesce(a.requested_bytes, a.size_bytes) ELSE 0 END AS requested_bytes,
    :is_block AND a.free_requested_seq IS NOT NULL AS is_pending,
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
    coalesce(a.private_pool, 0) AS pool_id,
    a.stack_id AS stack_id,
    NOT :is_block AND a.is_mapped AS is_mapped,
    :is_block AND a.block_bytes IS NULL AS is_rounded
FROM allocation AS a
CROSS JOIN own ON own.heap_id = a.heap_id
WHERE a.end_kind = 0
    AND a.size_bytes > 0
    AND CASE
        WHEN NOT :is_block THEN own.level = 1
        WHEN own.level IN (2, 3) THEN 1
        ELSE own.level = 1 AND a.is_segment = 0 AND a.allocation_id NOT IN (
            SELECT w.segment_id
            FROM allocation AS w
            WHERE w.segment_id IS NOT NULL AND w.heap_id IN (SELECT heap_id FROM own WHERE level = 3)
        )
    END
ORDER BY own.number, a.address < 0, a.address, a.allocation_id;
