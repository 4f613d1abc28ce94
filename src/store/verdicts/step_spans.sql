-- step_spans.sql: which steps the line goes through, by heap: from first_generation on, so many of them, without the
-- last.
CREATE TEMP TABLE step_span (
    heap_id INTEGER PRIMARY KEY,
    first_generation INTEGER,
    step_count INTEGER
);
INSERT INTO step_span
SELECT
    h.heap_id,
    p.first_generation,
    p.step_count
FROM heap AS h
JOIN (
    SELECT
        process_id,
        min(generation) AS first_generation,
        max(generation) - min(generation) AS step_count
    FROM step
    GROUP BY process_id
) AS p ON p.process_id = h.process_id
WHERE p.step_count >= 2;
