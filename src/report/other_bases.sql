-- other_bases.sql: sums of requests and sums of blocks are not the same thing: a level of heaps whose sizes are not of
-- one basis in the two databases.
WITH
    a (level, size_basis) AS (
        SELECT DISTINCT l.name, h.size_basis
        FROM base.heap AS h
        LEFT JOIN base.process AS p ON p.process_id = h.process_id
        LEFT JOIN base.heap_level AS l ON l.level = h.level
        JOIN base.z_heap_sum AS s ON s.heap_id = h.heap_id
        WHERE s.peak_bytes > 0 AND (:rank IS NULL OR p.rank = :rank) AND (:level IS NULL OR l.name = :level)
    ),
    b (level, size_basis) AS (
        SELECT DISTINCT l.name, h.size_basis
        FROM main.heap AS h
        LEFT JOIN main.process AS p ON p.process_id = h.process_id
        LEFT JOIN main.heap_level AS l ON l.level = h.level
        JOIN main.z_heap_sum AS s ON s.heap_id = h.heap_id
        WHERE s.peak_bytes > 0 AND (:rank IS NULL OR p.rank = :rank) AND (:level IS NULL OR l.name = :level)
    )
SELECT
    a.level AS level,
    a.size_basis AS base_basis,
    b.size_basis AS run_basis
FROM a
JOIN b ON b.level = a.level AND b.size_basis <> a.size_basis
WHERE (a.level, a.size_basis) NOT IN (SELECT level, size_basis FROM b)
    OR (b.level, b.size_basis) NOT IN (SELECT level, size_basis FROM a)
ORDER BY a.level
LIMIT 1;
