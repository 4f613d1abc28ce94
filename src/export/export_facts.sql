-- export_facts.sql: what the head of an export says of a run.
SELECT
    (SELECT min(start_realtime_ns) FROM input) AS start_realtime_ns,
    (SELECT count(*) FROM input WHERE is_complete = 0) AS partial_count,
    (SELECT count(*) FROM process) AS process_count,
    (SELECT command FROM process WHERE command IS NOT NULL ORDER BY process_id LIMIT 1) AS command,
    max(last_ns) AS last_ns,
    max(last_seq) AS last_seq
FROM usage;
