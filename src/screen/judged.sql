-- judged.sql: what is known of faults: leaks, failures and misuse, what keeps them from being judged, and what else was
-- not well.
SELECT
    (SELECT count(*) FROM leak_by_site) AS leak_count,
    coalesce(sum(reason = 'no steps'), 0) AS stepless_count,
    coalesce(sum(reason = 'too few steps'), 0) AS early_count,
    coalesce(sum(CASE WHEN reason = 'stack cut' THEN size_bytes END), 0) AS cut_bytes,
    (SELECT coalesce(sum(outstanding_count), 0) FROM heap_total) AS outstanding_count,
    (SELECT coalesce(sum(outstanding_bytes), 0) FROM heap_total) AS outstanding_bytes,
    (SELECT count(*) FROM completeness WHERE verdict NOT IN ('complete', 'begun', 'kept', 'contradictory')) AS partial_count,
    (SELECT count(*) FROM input WHERE state = 'running') AS running_count,
    (SELECT count(*) FROM z_out_of_memory_chain) AS failure_count,
    (SELECT count(*) FROM misuse) AS misuse_count,
    (SELECT count(*) FROM completeness WHERE verdict <> 'complete') + (
        SELECT count(*)
        FROM process
        WHERE end_kind = 'signal' OR (end_kind = 'exit' AND end_status <> 0)
    ) AS limit_count
FROM suspect_by_site;
