-- whatif_processes.sql: processes, and how whole their recordings are.
SELECT
    process_id,
    pid,
    rank,
    host,
    baseline = 'unknown' AS is_late,
    is_complete AND events_late = 0 AS is_whole,
    events_unkept > 0 AS is_kept,
    hit_basis <> 'exact' AS is_hit_estimated,
    peak_basis = 'estimate' AS is_peak_estimated,
    peak_basis IN ('none', 'curve') AS is_peak_untold
FROM process
JOIN input USING (input_id);
