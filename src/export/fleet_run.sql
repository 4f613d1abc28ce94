-- fleet_run.sql: what a database tells of the job that it is of, of when that began, and of which hosts and ranks it is.
SELECT
    (
        SELECT e.value
        FROM z_environment AS e
        WHERE e.source = 'environment'
            AND e.name IN ('SLURM_JOB_NAME', 'VC_JOB_NAME', 'TORCHELASTIC_RUN_ID')
            AND e.value NOT IN ('', 'none')
        ORDER BY e.name = 'TORCHELASTIC_RUN_ID', e.name, e.value
        LIMIT 1
    ) AS job,
    (SELECT min(input.start_realtime_ns) FROM input) AS start_realtime_ns,
    min(process.host) AS host,
    count(DISTINCT process.host) AS host_count,
    min(process.rank) AS first_rank_number,
    max(process.rank) AS last_rank_number,
    min(process.pid) AS pid
FROM process;
