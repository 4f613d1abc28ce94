-- json_run.sql: what is said of a run as a whole: whose words a finding's are, and the only input's path.
SELECT
    (
        SELECT count(DISTINCT h.process_id) > 1
        FROM z_heap_sum AS s
        JOIN heap AS h ON h.heap_id = s.heap_id
        WHERE s.peak_bytes > 0
    ) AS is_shared,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    (SELECT path FROM input WHERE path <> '-' AND (SELECT count(*) FROM input) = 1) AS input_path;
