-- check_host_growth.sql: how fast the anonymous host memory of each process grew in the end, by the hour: of any heap that a filter names,
-- for it is of none.
-- Rows as: check_peaks.sql
SELECT
    host,
    rank,
    pid,
    device,
    heap,
    'host memory' AS level,
    growth_bytes_per_hour AS measured_value,
    NULL AS limit_value,
    printf('over the last %.3g s', window_ns / 1e9) AS note
FROM host_growth
WHERE :rank IS NULL OR rank IS :rank
ORDER BY growth_bytes_per_hour DESC, host, rank, pid;
