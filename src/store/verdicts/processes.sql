-- Left: the last that is known under its pid, and ended by exec.
UPDATE input
SET processes_seen = (SELECT count(*) FROM process AS p WHERE p.input_id = input.input_id),
    processes_left = (
        SELECT count(*)
        FROM (
            SELECT
                end_kind,
                max(process_id)
            FROM process AS p
            WHERE p.input_id = input.input_id
            GROUP BY host, pid
        )
        WHERE end_kind = 'exec'
    );
