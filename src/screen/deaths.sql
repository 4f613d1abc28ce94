-- deaths.sql: the first request that failed for good in a program that then did not end well, and its step.
SELECT
    1 AS is_dead,
    o.error_code AS error_code,
    (
        SELECT max(t.number)
        FROM step AS t
        JOIN process AS q ON q.process_id = t.process_id
        WHERE q.pid = o.pid AND t.begin_seq <= o.first_seq
    ) AS step
FROM out_of_memory AS o
JOIN process AS p ON p.pid = o.pid AND p.host IS o.host
WHERE o.outcome = 'fatal' AND (p.end_kind = 'signal' OR (p.end_kind = 'exit' AND p.end_status <> 0))
ORDER BY o.first_seq
LIMIT 1;
