-- size_histogram.sql: which sizes are asked for, in powers of two, and how often the pool had to grow for them.
-- Parameters: none
-- Columns:    heap name; at_least_bytes, below_bytes bounds of the size, bytes; allocation_count allocations;
--             size_bytes their
--             bytes; miss_count blocks for which a pool had to grow
SELECT
    z_heap_place.heap AS heap,
    CASE s.bits WHEN 0 THEN 0 ELSE 1 << (s.bits - 1) END AS at_least_bytes,
    1 << s.bits AS below_bytes,
    s.allocation_count AS allocation_count,
    s.size_bytes AS size_bytes,
    s.miss_count AS miss_count
FROM z_histogram AS s
JOIN z_heap_place ON z_heap_place.heap_id = s.heap_id
WHERE s.measure = 'size_bytes'
ORDER BY s.heap_id, s.bits;
