-- size_histogram.sql: which sizes are asked for, in powers of two, and how often the pool had to grow for them.
-- Parameters: none
-- Columns:    heap name; at_least_bytes, below_bytes bounds of the size, bytes; allocation_count allocations;
--             size_bytes their
--             bytes; miss_count blocks for which a pool had to grow
WITH RECURSIVE
    power (at_least, below) AS (
        SELECT 0, 1
        UNION ALL
        SELECT power.below, power.below * 2 FROM power WHERE power.below < 4611686018427387904
    )
SELECT
    heap_place.heap AS heap,
    power.at_least AS at_least_bytes,
    power.below AS below_bytes,
    count(*) AS allocation_count,
    sum(allocation.size_bytes) AS size_bytes,
    coalesce(sum(allocation.is_miss), 0) AS miss_count
FROM allocation
JOIN power ON allocation.size_bytes >= power.at_least AND allocation.size_bytes < power.below
JOIN heap_place ON heap_place.heap_id = allocation.heap_id
WHERE allocation.alloc_seq IS NOT NULL AND allocation.split_from_id IS NULL
GROUP BY allocation.heap_id, power.at_least
ORDER BY allocation.heap_id, power.at_least;
