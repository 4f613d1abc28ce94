-- allocation_cost.sql: what an allocation call costs: median, 90th and 99th percentile, and the dearest.
-- Parameters: none
-- Columns:    heap name; call_count calls whose cost is known; p50_ns, p90_ns, p99_ns the smallest cost that half, nine
--             tenths, 99 hundredths of the calls do not pass, nanoseconds; max_ns nanoseconds; total_ns nanoseconds. Needs the
--             rows of all allocations (input.detail 'all')
WITH
    ranked (heap_id, cost_ns, place, call_count) AS (
        SELECT
            allocation.heap_id,
            allocation.cost_ns,
            row_number() OVER (PARTITION BY allocation.heap_id ORDER BY allocation.cost_ns, allocation.allocation_id),
            count(*) OVER (PARTITION BY allocation.heap_id)
        FROM z_birth_part
        CROSS JOIN allocation
            ON allocation.allocation_id BETWEEN z_birth_part.first_id AND z_birth_part.last_id
            AND +allocation.heap_id = z_birth_part.heap_id
        WHERE z_birth_part.is_long = 0
            AND z_birth_part.cost_count > 0
            AND allocation.cost_ns IS NOT NULL
    )
SELECT
    z_heap_place.heap AS heap,
    count(*) AS call_count,
    min(CASE WHEN ranked.place * 2 >= ranked.call_count THEN ranked.cost_ns END) AS p50_ns,
    min(CASE WHEN ranked.place * 10 >= ranked.call_count * 9 THEN ranked.cost_ns END) AS p90_ns,
    min(CASE WHEN ranked.place * 100 >= ranked.call_count * 99 THEN ranked.cost_ns END) AS p99_ns,
    max(ranked.cost_ns) AS max_ns,
    sum(ranked.cost_ns) AS total_ns
FROM ranked
JOIN z_heap_place ON z_heap_place.heap_id = ranked.heap_id
GROUP BY ranked.heap_id
ORDER BY ranked.heap_id;
