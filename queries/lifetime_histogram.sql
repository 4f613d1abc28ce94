-- lifetime_histogram.sql: how long allocations live, in powers of two.
-- Parameters: :unit   'ns' nanoseconds or 'seq' events in between (default: 'ns' where times are known, else 'seq')
-- Columns:    heap name; unit of the bounds; at_least, below bounds of the lifetime; allocation_count allocations;
--             size_bytes
--             their bytes. Allocations that were never freed, and the baseline, are not in it.
WITH RECURSIVE
    power (at_least, below) AS (
        SELECT 0, 1
        UNION ALL
        SELECT power.below, power.below * 2 FROM power WHERE power.below < 4611686018427387904
    ),
    choice (unit) AS (
        SELECT coalesce(
            :unit,
            CASE WHEN EXISTS (SELECT 1 FROM allocation WHERE alloc_ns IS NOT NULL) THEN 'ns' ELSE 'seq' END
        )
    ),
    lifetime (heap_id, unit, length, size_bytes) AS (
        SELECT
            allocation.heap_id,
            choice.unit,
            CASE choice.unit
                WHEN 'ns' THEN allocation.free_ns - allocation.alloc_ns
                ELSE allocation.free_seq - allocation.alloc_seq
            END,
            allocation.size_bytes
        FROM allocation
        CROSS JOIN choice
        WHERE allocation.end_kind <> 0 AND allocation.alloc_seq IS NOT NULL
    )
SELECT
    heap_place.heap AS heap,
    lifetime.unit AS unit,
    power.at_least AS at_least,
    power.below AS below,
    count(*) AS allocation_count,
    sum(lifetime.size_bytes) AS size_bytes
FROM lifetime
JOIN power ON lifetime.length >= power.at_least AND lifetime.length < power.below
JOIN heap_place ON heap_place.heap_id = lifetime.heap_id
GROUP BY lifetime.heap_id, power.at_least
ORDER BY lifetime.heap_id, power.at_least;
