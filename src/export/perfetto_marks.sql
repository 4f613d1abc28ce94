-- perfetto_marks.sql: marks and failed requests; what belongs to no process stands beside the first one.
SELECT
    coalesce(m.process_id, (SELECT min(process_id) FROM process)) AS process_id,
    CASE
        WHEN m.kind = 3 THEN coalesce(m.name, 'mark')
        ELSE 'failed request of ' || coalesce(f.requested_bytes, '?') || ' bytes'
    END AS name,
    max(coalesce(m.ns, m.seq * 1000, 0), 0) AS ns
FROM moment AS m
LEFT JOIN failure AS f ON f.failure_id = m.failure_id
WHERE m.kind IN (3, 4)
ORDER BY 1, 3, m.moment_id;
