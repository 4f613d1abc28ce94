-- copies.sql: how many bytes were moved in which direction, and what the calls cost.
-- Parameters: none
-- Columns:    pid process; kind direction, or memset; is_async 1 when queued on a stream; copy_count calls; failed_count of them
--             refused; size_bytes moved or set by the others, bytes; mean_bytes of these, bytes a call; cost_ns time in all
--             calls, nanoseconds, NULL where unknown
SELECT
    process.pid AS pid,
    copy_kind.name AS kind,
    s.is_async AS is_async,
    sum(s.copy_count) AS copy_count,
    sum(s.failed_count) AS failed_count,
    sum(s.size_bytes) AS size_bytes,
    sum(s.size_bytes) / nullif(sum(s.copy_count) - sum(s.failed_count), 0) AS mean_bytes,
    sum(s.cost_ns) AS cost_ns
FROM z_copy_sum AS s
JOIN copy_kind ON copy_kind.kind = s.kind
LEFT JOIN process ON process.process_id = s.process_id
GROUP BY s.process_id, s.kind, s.is_async
ORDER BY s.process_id, size_bytes DESC, s.kind, s.is_async;
