-- segment_blocks.sql: a segment as a block of the driver's memory: of one the word of the program is in the range
-- around its operation, and it is in no part of a model.
SELECT
    a.heap_id AS heap_id,
    coalesce(a.alloc_seq, -1) AS born,
    a.free_seq - coalesce(a.alloc_seq, -1) AS life,
    a.address AS address,
    a.size_bytes AS size_bytes,
    a.stack_id AS stack_id,
    a.allocation_id AS allocation_id,
    a.stream AS stream,
    a.category_id AS category_id,
    a.private_pool AS private_pool,
    CASE
        WHEN c.name = 'other' THEN (
            WITH RECURSIVE
                around (operation_id, distance) AS (
                    SELECT a.operation_id, 0
                    UNION ALL
                    SELECT i.parent_id, around.distance + 1
                    FROM around
                    JOIN operation AS i ON i.operation_id = around.operation_id
                    WHERE i.parent_id IS NOT NULL
                )
            SELECT i.name
            FROM around
            JOIN operation AS i ON i.operation_id = around.operation_id
            JOIN operation_kind AS k ON k.kind = i.kind AND k.name = 'category'
            ORDER BY around.distance
            LIMIT 1
        )
    END AS own_category,
    o.name AS operation,
    NULL AS module
FROM allocation AS a
LEFT JOIN operation AS o ON o.operation_id = a.operation_id
LEFT JOIN z_category AS c ON c.category_id = a.category_id
WHERE a.allocation_id = :segment_id;
