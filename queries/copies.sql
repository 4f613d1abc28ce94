-- copies.sql: how many bytes were moved in which direction, and what the calls cost.
-- Parameters: none
-- Columns:    pid process; kind direction, or memset; is_async 1 when queued on a stream; copy_count calls;
--             failed_count of
--             them refused; size_bytes bytes; mean_bytes bytes a call; cost_ns time in the calls, nanoseconds, NULL
--             where unknown
SELECT
    process.pid AS pid,
    copy_kind.name AS kind,
    copy.is_async AS is_async,
    count(*) AS copy_count,
    sum(copy.error_code <> 0) AS failed_count,
    sum(copy.size_bytes) AS size_bytes,
    sum(copy.size_bytes) / count(*) AS mean_bytes,
    sum(copy.cost_ns) AS cost_ns
FROM copy
JOIN copy_kind ON copy_kind.kind = copy.kind
LEFT JOIN process ON process.process_id = copy.process_id
GROUP BY copy.process_id, copy.kind, copy.is_async
ORDER BY copy.process_id, size_bytes DESC, copy.kind, copy.is_async;
