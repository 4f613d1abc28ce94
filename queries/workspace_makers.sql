-- workspace_makers.sql: which operator makes the workspace of its stream as large as it is, and what would it be without?
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; heap name of the heap that the blocks come from; stream number or handle, NULL where unknown;
--             operator that asked for the largest workspace there; max_requested_bytes bytes; run_count its runs with a
--             workspace there; next_operator the one that asks for most of the others, NULL where there is none;
--             next_requested_bytes bytes, 0 where there is none; spared_bytes by how much the workspace could be smaller
--             if the first needed no more than the next, bytes; largest_block_bytes the largest block that was held for
--             them, bytes. There are no rows where input.detail is not 'all'
WITH
    asked (heap_id, stream, name, requested_bytes, run_count, block_bytes) AS (
        SELECT
            a.heap_id,
            w.stream,
            o.name,
            max(w.requested_bytes),
            count(*),
            max(w.block_bytes)
        FROM workspace AS w
        JOIN allocation AS a ON a.allocation_id = w.allocation_id
        JOIN operation AS o ON o.operation_id = w.operation_id
        GROUP BY a.heap_id, w.stream, o.name
    ),
    first_name (heap_id, stream, requested_bytes, block_bytes, name) AS (
        SELECT
            m.heap_id,
            m.stream,
            m.requested_bytes,
            m.block_bytes,
            min(asked.name)
        FROM (
            SELECT
                t.heap_id,
                t.stream,
                max(t.requested_bytes) AS requested_bytes,
                max(t.block_bytes) AS block_bytes
            FROM asked AS t
            GROUP BY t.heap_id, t.stream
        ) AS m
        JOIN asked
            ON asked.heap_id = m.heap_id
            AND asked.stream IS m.stream
            AND asked.requested_bytes = m.requested_bytes
        GROUP BY m.heap_id, m.stream
    ),
    next_bytes (heap_id, stream, requested_bytes) AS (
        SELECT
            f.heap_id,
            f.stream,
            max(asked.requested_bytes)
        FROM first_name AS f
        LEFT JOIN asked ON asked.heap_id = f.heap_id AND asked.stream IS f.stream AND asked.name IS NOT f.name
        GROUP BY f.heap_id, f.stream
    )
SELECT
    p.pid AS pid,
    p.heap AS heap,
    f.stream AS stream,
    f.name AS operator,
    f.requested_bytes AS max_requested_bytes,
    (
        SELECT q.run_count
        FROM asked AS q
        WHERE q.heap_id = f.heap_id AND q.stream IS f.stream AND q.name IS f.name
    ) AS run_count,
    (
        SELECT min(q.name)
        FROM asked AS q
        WHERE q.heap_id = f.heap_id AND q.stream IS f.stream AND q.name IS NOT f.name
            AND q.requested_bytes = n.requested_bytes
    ) AS next_operator,
    coalesce(n.requested_bytes, 0) AS next_requested_bytes,
    f.requested_bytes - coalesce(n.requested_bytes, 0) AS spared_bytes,
    f.block_bytes AS largest_block_bytes
FROM first_name AS f
JOIN next_bytes AS n ON n.heap_id = f.heap_id AND n.stream IS f.stream
JOIN z_heap_place AS p ON p.heap_id = f.heap_id
ORDER BY spared_bytes DESC, f.heap_id, f.stream
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
