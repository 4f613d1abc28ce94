-- environment.sql: which versions took part, and which settings that matter were made?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    host machine, rank in a job, pid process, NULL where unknown; source 'version', 'environment' or 'hccl' (a
--             communicator); name of what it is; value its version, what the variable was set to, or 'rank 1 of 4'
SELECT
    v.host AS host,
    v.rank AS rank,
    v.pid AS pid,
    v.source AS source,
    v.name AS name,
    v.value AS value
FROM z_environment AS v
WHERE v.pid IS coalesce(:pid, v.pid)
ORDER BY v.pid, v.source DESC, v.name, v.value
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
