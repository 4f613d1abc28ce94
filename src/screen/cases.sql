-- cases.sql: the request that failed for want of memory and counts first, and how many failed.
SELECT
    count(*) OVER () AS case_count,
    sum(outcome = 'recovered') OVER () AS recovered_count,
    coalesce(tried_bytes, at_least_tried_bytes) AS asked_bytes,
    first_ns,
    first_seq,
    outcome,
    verdict,
    site,
    tried_bytes,
    out_of_memory_id,
    substr(message, 10, instr(message, ' (') - 10) AS call,
    rank,
    pid,
    device,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    needed_bytes,
    free_bytes,
    total_bytes,
    own_bytes,
    other_bytes,
    pool_free_bytes,
    pool_largest_free_bytes,
    reserved_bytes,
    leaked_bytes,
    leaked_site,
    is_partial
FROM out_of_memory
ORDER BY out_of_memory_id <> :first_id, outcome IS 'recovered', device IS NULL, out_of_memory_id DESC
LIMIT 1;
