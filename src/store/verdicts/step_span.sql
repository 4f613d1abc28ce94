-- step_span.sql: which steps the line of a heap goes through.
-- After: step_spans.sql
SELECT
    first_generation,
    step_count
FROM temp.step_span
WHERE heap_id = :heap_id;
