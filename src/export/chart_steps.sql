-- chart_steps.sql: where the steps of a chart begin; none where they are more than :most_count.
SELECT coalesce(CASE WHEN :has_times THEN begin_ns ELSE begin_seq END, 0) AS begin_number
FROM step
WHERE process_id = :process_id
    AND (device_id IS NULL OR :device_id IS NULL OR device_id = :device_id)
    AND (SELECT count(*) FROM step AS all_of WHERE all_of.process_id = :process_id) <= :most_count
ORDER BY begin_seq, step_id;
