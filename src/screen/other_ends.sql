-- other_ends.sql: how many processes with memory did not end by themselves with status 0. While the recording
-- goes on, so may they. A snapshot says nothing of an end; is_ending: some process is not of one.
SELECT
    count(*) AS process_count,
    (SELECT count(*) > 0 FROM input WHERE kind = 'trace') AS is_ending
FROM process
WHERE process_id IN (
        SELECT h.process_id
        FROM z_heap_sum AS u
        JOIN heap AS h ON h.heap_id = u.heap_id
        WHERE u.peak_bytes > 0
    )
    AND NOT (end_kind = 'exit' AND end_status = 0)
    AND NOT (:is_going_on AND end_kind = 'running')
    AND input_id IN (SELECT i.input_id FROM input AS i WHERE i.kind = 'trace');
