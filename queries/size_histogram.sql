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
    ),
    size (heap_id, size_bytes, allocation_count, miss_count) AS (
        SELECT
            allocation.heap_id,
            allocation.size_bytes,
            count(*),
            coalesce(sum(allocation.is_miss), 0)
        FROM allocation
        WHERE allocation.alloc_seq IS NOT NULL AND allocation.split_from_id IS NULL
        GROUP BY allocation.heap_id, allocation.size_bytes
    )
SELECT
    z_heap_place.heap AS heap,
    power.at_least AS at_least_bytes,
    power.below AS below_bytes,
    sum(size.allocation_count) AS allocation_count,
    sum(size.allocation_count * size.size_bytes) AS size_bytes,
    sum(size.miss_count) AS miss_count
FROM size
JOIN power ON size.size_bytes >= power.at_least AND size.size_bytes < power.below
JOIN z_heap_place ON z_heap_place.heap_id = size.heap_id
GROUP BY size.heap_id, power.at_least
ORDER BY size.heap_id, power.at_least;
