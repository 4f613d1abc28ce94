-- snapshot_blocks.sql: segments that are there at the end, or blocks, in the order of their addresses. A block whose
-- size is not known is as large as it must be at least; driver memory that carries no blocks is its own block. Of a device
-- of which no driver memory is known, segments are what blocks have ever lain in, without a gap. Where `stream` is not known
-- it is that of carrier_id in snapshot_streams.sql.
-- With: snapshot_devices.part.sql
SELECT
    device,
    address,
    size_bytes,
    requested_bytes,
    is_pending,
    stream,
    carrier_id,
    pool_id,
    stack_id,
    is_mapped,
    is_rounded
FROM (
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
        a.stream AS stream,
        CASE WHEN a.is_mapped = 0 THEN CASE WHEN own.level = 1 THEN a.allocation_id ELSE a.segment_id END END
            AS carrier_id,
        coalesce(a.private_pool, 0) AS pool_id,
        a.stack_id AS stack_id,
        NOT :is_block AND a.is_mapped AS is_mapped,
        :is_block AND a.block_bytes IS NULL AS is_rounded,
        a.allocation_id AS place
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
    UNION ALL
    SELECT number, min(address), max(behind) - min(address), 0, 0, 0, NULL, 0, NULL, 0, 0, min(allocation_id)
    FROM (
        SELECT
            number,
            address,
            behind,
            allocation_id,
            sum(is_first) OVER (PARTITION BY number ORDER BY address < 0, address, allocation_id) AS part
        FROM (
            SELECT
                own.number AS number,
                a.address AS address,
                a.address + a.size_bytes AS behind,
                a.allocation_id AS allocation_id,
                a.address > coalesce(
                    max(a.address + a.size_bytes) OVER (
                        PARTITION BY own.number
                        ORDER BY a.address < 0, a.address, a.allocation_id
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                    ),
                    -1
                ) AS is_first
            FROM allocation AS a
            CROSS JOIN own ON own.heap_id = a.heap_id
            WHERE NOT :is_block
                AND a.size_bytes > 0
                AND a.heap_id IN (
                    SELECT o.heap_id
                    FROM own AS o
                    WHERE o.level IN (2, 3)
                        AND NOT EXISTS (SELECT 1 FROM own AS d WHERE d.number = o.number AND d.level = 1)
                )
        )
    )
    GROUP BY number, part
)
ORDER BY device, address < 0, address, place;
