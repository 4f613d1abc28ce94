-- anchors.sql: events round which windows of the map are laid, by heap: not more than some of each kind. Kinds are
-- numbered as in the enum of windows.h, and by it put in order.
SELECT heap_id, 0 AS kind_code, peak_seq AS seq
FROM z_heap_sum
WHERE peak_seq IS NOT NULL
UNION
SELECT p.heap_id, 1, t.last_seq
FROM z_heap_place AS p
JOIN (
    SELECT q.input_id, max(u.last_seq) AS last_seq
    FROM usage AS u
    JOIN z_heap_place AS q ON q.heap_id = u.heap_id
    GROUP BY q.input_id
) AS t ON t.input_id = p.input_id
WHERE t.last_seq IS NOT NULL
UNION
SELECT h.heap_id, 2, m.seq
FROM (
    SELECT process_id, seq, row_number() OVER (PARTITION BY process_id ORDER BY seq) AS number
    FROM moment
    WHERE kind = 4 AND seq IS NOT NULL
) AS m
JOIN heap AS h ON h.process_id = m.process_id
WHERE m.number <= 8
UNION
SELECT p.heap_id, 3, CASE e.number WHEN 1 THEN l.first_seq ELSE l.last_seq END
FROM (
    SELECT *
    FROM leak_by_site
    ORDER BY leak_bytes DESC, host, rank, pid, device, heap, level, site, verdict
    LIMIT 32
) AS l
JOIN z_heap_place AS p ON p.host IS l.host
    AND p.rank IS l.rank
    AND p.pid IS l.pid
    AND p.device IS l.device
    AND p.heap IS l.heap
    AND p.level IS l.level
JOIN (SELECT 1 AS number UNION SELECT 2) AS e
WHERE l.first_seq IS NOT NULL AND l.last_seq IS NOT NULL
ORDER BY 1, 2, 3;
