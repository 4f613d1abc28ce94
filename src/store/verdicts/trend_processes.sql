-- trend_processes.sql: processes of which something is known of steps, with the last one that ended, and whether what
-- is known of them is not all. In the order of trend_values.sql.
SELECT
    heap.process_id AS process_id,
    coalesce(max(CASE WHEN t.end_seq IS NOT NULL THEN t.last_generation END), 0) AS step_count,
    max(input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0)) > 0 AS is_lost,
    max(input.baseline = 'unknown') AS is_late
FROM z_step_sum AS t
JOIN heap ON heap.heap_id = t.heap_id
JOIN process ON process.process_id = heap.process_id
JOIN input ON input.input_id = process.input_id
GROUP BY heap.process_id
ORDER BY heap.process_id;
