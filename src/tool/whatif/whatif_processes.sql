-- whatif_processes.sql: processes, and how whole their recordings are.
SELECT
    process_id,
    pid,
    rank,
    host,
    baseline = 'unknown' AS is_late,
    is_complete AND events_late = 0 AS is_whole,
    events_unkept > 0 AS is_kept
FROM process
JOIN input USING (input_id);
