-- reuse_candidates.sql: which sizes are driver memory freed and asked for again: what a pool would serve.
-- Parameters: :top    rows to return (default 20)
-- Columns:    heap name; size_bytes size, bytes; allocation_count allocations of that size; again_count of them made after one
--             of the same size had been freed; cost_ns time spent in those calls, nanoseconds, NULL where unknown. Needs the
--             rows of all allocations (input.detail 'all')
SELECT
    z_heap_place.heap AS heap,
    allocation.size_bytes AS size_bytes,
    count(*) AS allocation_count,
    sum(allocation.alloc_seq > first_free.free_seq) AS again_count,
    sum(CASE WHEN allocation.alloc_seq > first_free.free_seq THEN allocation.cost_ns END) AS cost_ns
FROM z_heap_place
CROSS JOIN z_birth_part ON z_birth_part.heap_id = z_heap_place.heap_id AND z_birth_part.is_long = 0
CROSS JOIN allocation
    ON allocation.allocation_id BETWEEN z_birth_part.first_id AND z_birth_part.last_id
    AND +allocation.heap_id = z_birth_part.heap_id
JOIN (
    SELECT
        allocation.heap_id AS heap_id,
        allocation.size_bytes AS size_bytes,
        min(allocation.free_seq) AS free_seq
    FROM z_heap_place
    CROSS JOIN z_birth_part ON z_birth_part.heap_id = z_heap_place.heap_id AND z_birth_part.is_long = 0
    CROSS JOIN allocation
        ON allocation.allocation_id BETWEEN z_birth_part.first_id AND z_birth_part.last_id
        AND +allocation.heap_id = z_birth_part.heap_id
    WHERE +allocation.end_kind = 1 AND z_heap_place.level IN ('driver', 'pinned')
    GROUP BY allocation.heap_id, allocation.size_bytes
) AS first_free ON first_free.heap_id = +allocation.heap_id AND first_free.size_bytes = +allocation.size_bytes
WHERE z_heap_place.level IN ('driver', 'pinned') AND allocation.alloc_seq IS NOT NULL AND allocation.split_from_id IS NULL
GROUP BY allocation.heap_id, allocation.size_bytes
HAVING sum(allocation.alloc_seq > first_free.free_seq) > 0
ORDER BY again_count DESC, allocation.heap_id, size_bytes
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
