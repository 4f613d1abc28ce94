-- perfetto_processes.sql: processes, each with the number by which it goes: its own where no other has it; and what it
-- is called.
SELECT
    process.process_id AS process_id,
    CASE
        WHEN process.pid BETWEEN 1 AND 1000000000
            AND (SELECT count(*) FROM process AS other WHERE other.pid = process.pid) = 1
            THEN process.pid
        ELSE 1000000000 + process.process_id
    END AS pid,
    coalesce('rank ' || process.rank || ', ', '') || coalesce(process.host || ', ', '')
        || coalesce(process.command, 'pid ' || process.pid, 'process') AS name
FROM process
ORDER BY process_id;
