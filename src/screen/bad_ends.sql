-- bad_ends.sql: processes that did not end as a program does that has done its work, how many they are, and why where
-- the recorder knows it. Of a program that held no memory and was started by another only a signal counts: by its status a
-- helper of a shell says what it has found.
SELECT
    count(*) OVER () AS all_count,
    p.pid AS pid,
    p.end_kind = 'signal' AS is_signal,
    p.end_status AS end_status,
    (
        SELECT m.name
        FROM moment AS m
        WHERE m.name GLOB 'host out of memory: process ' || p.pid || ' *' AND m.seq >= 0
        LIMIT 1
    ) AS reason
FROM process AS p
WHERE p.end_kind = 'signal'
    OR (p.end_kind = 'exit' AND p.end_status <> 0 AND (
        p.parent_id IS NULL AND p.process_id = (SELECT min(o.process_id) FROM process AS o WHERE o.input_id = p.input_id)
        OR p.rank IS NOT NULL
        OR EXISTS (
            SELECT 1
            FROM heap AS h
            JOIN z_heap_sum AS u ON u.heap_id = h.heap_id
            WHERE h.process_id = p.process_id AND u.peak_bytes > 0
        )
    ))
ORDER BY reason IS NULL, p.end_kind <> 'signal', p.process_id
LIMIT 3;
