-- chart_marks.sql: failed requests and marks of a chart.
SELECT
    coalesce(CASE WHEN :has_times THEN m.ns ELSE m.seq END, 0) AS at_number,
    m.kind = 4 AS is_failure,
    coalesce(m.name, CASE m.kind WHEN 4 THEN 'request failed' ELSE 'mark' END) AS name
FROM moment AS m
LEFT JOIN heap AS h ON h.heap_id = m.heap_id
WHERE m.kind IN (3, 4)
    AND (m.process_id IS NULL OR m.process_id = :process_id)
    AND (m.kind = 3 OR h.device_id IS NULL OR h.device_id = :device_id)
ORDER BY m.kind DESC, m.seq, m.moment_id
LIMIT 200;
