-- bad_ends.sql: processes that did not end as a program does that has done its work, how many they are, and why where
-- the recorder knows it.
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
WHERE p.end_kind = 'signal' OR (p.end_kind = 'exit' AND p.end_status <> 0)
ORDER BY reason IS NULL, p.end_kind <> 'signal', p.process_id
LIMIT 3;
