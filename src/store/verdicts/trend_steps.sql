-- trend_steps.sql: the steps of a process that ended.
SELECT
    generation,
    end_seq,
    number,
    begin_ns
FROM step
WHERE process_id = :process_id AND end_seq IS NOT NULL
ORDER BY generation;
