-- flushes.sql: how often pools gave memory back, and what it cost to get it again.
-- Parameters: none
-- Columns:    heap name; flush_count times that segments were given back; released_bytes their size, bytes; retry_count
--             of these times, after how many the next request made the pool grow again; failed_retry_count of those, how
--             many followed a request that the device had refused; miss_count requests for which the pool had to grow
--             though it had held enough before; driver_cost_ns what the driver took for them, nanoseconds, NULL where
--             unknown; is_partial 1 when some of what the pool did is not in the recording
SELECT
    z_heap_place.heap AS heap,
    z_pool_sum.flush_count AS flush_count,
    z_pool_sum.released_bytes AS released_bytes,
    z_pool_sum.retry_count AS retry_count,
    z_pool_sum.failed_retry_count AS failed_retry_count,
    coalesce(sum(z_pool_miss_sum.miss_count), 0) AS miss_count,
    nullif(sum(z_pool_miss_sum.driver_cost_ns), 0) AS driver_cost_ns,
    z_pool_sum.is_partial AS is_partial
FROM z_pool_sum
JOIN z_heap_place ON z_heap_place.heap_id = z_pool_sum.heap_id
LEFT JOIN z_pool_miss_sum ON z_pool_miss_sum.heap_id = z_pool_sum.heap_id AND z_pool_miss_sum.cause = 3
WHERE z_pool_sum.flush_count > 0
GROUP BY z_pool_sum.heap_id
ORDER BY z_pool_sum.heap_id;
