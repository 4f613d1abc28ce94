-- runs_compared.sql: how do the recordings in one database compare, heap by heap?
-- For two databases, and site by site: diff.sql.
-- Parameters: :heap   name of a heap (default: all)
-- Columns:    heap name; level of the heap; input_id number of the recording, path its file; process_count processes that
--             have the heap; peak_bytes highest peak of one of them, bytes; change_ratio that over the peak of the first
--             recording that has the heap, less 1; peak_reserved_bytes most that a pool of one of them held, bytes, NULL
--             where it is no pool; outstanding_bytes not freed by the end, of all of them, bytes; allocation_count
--             allocations; miss_count requests for which a pool had to grow, NULL where it is no pool; step_count most
--             steps of one of them; is_whole 0 where something of the recording is missing
SELECT
    r.name AS heap,
    l.name AS level,
    r.input_id AS input_id,
    i.path AS path,
    r.process_count AS process_count,
    r.peak_bytes AS peak_bytes,
    (
        SELECT CAST(r.peak_bytes AS REAL) / nullif(max(w.peak_bytes), 0) - 1
        FROM heap AS h
        JOIN process AS p ON p.process_id = h.process_id
        JOIN z_heap_sum AS w ON w.heap_id = h.heap_id
        WHERE h.name IS r.name AND h.level IS r.level AND p.input_id = (
            SELECT min(q.input_id)
            FROM heap AS g
            JOIN process AS q ON q.process_id = g.process_id
            WHERE g.name IS r.name AND g.level IS r.level
        )
    ) AS change_ratio,
    r.peak_reserved_bytes AS peak_reserved_bytes,
    r.outstanding_bytes AS outstanding_bytes,
    r.allocation_count AS allocation_count,
    r.miss_count AS miss_count,
    r.step_count AS step_count,
    i.is_complete AS is_whole
FROM (
    SELECT
        h.name,
        h.level,
        p.input_id,
        count(DISTINCT p.process_id) AS process_count,
        max(w.peak_bytes) AS peak_bytes,
        max(w.peak_reserved_bytes) AS peak_reserved_bytes,
        sum(w.outstanding_bytes) AS outstanding_bytes,
        sum(w.allocation_count) AS allocation_count,
        sum(m.miss_count) AS miss_count,
        max(coalesce(s.step_count, 0)) AS step_count
    FROM heap AS h
    JOIN process AS p ON p.process_id = h.process_id
    JOIN z_heap_sum AS w ON w.heap_id = h.heap_id
    LEFT JOIN (
        SELECT
            n.heap_id,
            sum(n.miss_count) AS miss_count
        FROM z_pool_hit AS n
        GROUP BY n.heap_id
    ) AS m ON m.heap_id = h.heap_id
    LEFT JOIN (
        SELECT
            t.process_id,
            max(t.generation) AS step_count
        FROM step AS t
        GROUP BY t.process_id
    ) AS s ON s.process_id = h.process_id
    WHERE :heap IS NULL OR h.name = :heap
    GROUP BY h.name, h.level, p.input_id
) AS r
JOIN input AS i ON i.input_id = r.input_id
LEFT JOIN heap_level AS l ON l.level = r.level
WHERE r.allocation_count > 0 OR r.peak_bytes > 0
ORDER BY r.level, r.name, r.input_id
-- begin guard :heap; -1
LIMIT CASE
    WHEN :heap IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
