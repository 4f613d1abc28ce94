-- ranks.sql: a row a process, as rank_list.h has them: by rank, of several devices the sums; -1 for what is not known.
SELECT
    r.host AS host,
    coalesce(r.rank, -1) AS rank,
    coalesce(r.pid, -1) AS pid,
    count(r.device) AS device_count,
    coalesce(min(r.device), -1) AS device,
    coalesce(sum(r.peak_bytes), -1) AS peak_bytes,
    coalesce(sum(r.pool_peak_reserved_bytes), -1) AS reserved_bytes,
    coalesce(sum(r.leak_bytes), -1) AS leak_bytes,
    r.end_kind AS end_kind,
    coalesce(r.end_status, -1) AS end_status,
    r.failure AS failure,
    r.failure_order AS failure_order,
    r.job AS job_number,
    coalesce(r.failed_step, -1) AS failed_step,
    coalesce(r.out_of_memory_id, 0) AS out_of_memory_id,
    coalesce(r.failed_ns, -1) AS failed_ns,
    coalesce(r.since_first_ns, -1) AS since_first_ns,
    coalesce(r.clock_uncertainty_ns, -1) AS doubt_ns,
    strftime('%Y-%m-%d %H:%M:%S', r.failed_realtime_ns / 1000000000, 'unixepoch') AS failed_at,
    coalesce(r.failed_realtime_ns, -1) AS failed_realtime_ns,
    i.input_id AS input_id,
    i.kind <> 'trace' AS is_snapshot,
    i.kind NOT LIKE '%snapshot%' AS is_other
FROM z_rank_summary AS r
LEFT JOIN process AS p ON p.process_id = r.process_id
LEFT JOIN input AS i ON i.input_id = p.input_id
GROUP BY r.process_id
ORDER BY r.rank IS NULL, r.rank, r.process_id;
