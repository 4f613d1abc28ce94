-- against_steps.sql: steps of the other run.
SELECT
    process_id,
    number,
    begin_seq
FROM step
WHERE begin_seq IS NOT NULL
ORDER BY process_id, begin_seq, step_id
LIMIT 100000;
