-- lifetime_histogram.sql: how long allocations live, in powers of two.
-- Parameters: :unit   'ns' nanoseconds or 'seq' events in between (default: 'ns' where times are known, else 'seq')
-- Columns:    heap name; unit of the bounds; at_least, below bounds of the lifetime; allocation_count allocations;
--             size_bytes
--             their bytes. Allocations that were never freed, and the baseline, are not in it.
WITH
    choice (unit) AS (
        SELECT coalesce(
            :unit,
            CASE WHEN EXISTS (SELECT 1 FROM z_size_lifetime_sum AS x WHERE x.life_ns_bits IS NOT NULL) THEN 'ns' ELSE 'seq' END
        )
    ),
    lifetime (heap_id, unit, bits, allocation_count, size_bytes) AS (
        SELECT
            s.heap_id,
            choice.unit,
            CASE choice.unit WHEN 'ns' THEN s.life_ns_bits ELSE s.life_seq_bits END,
            s.allocation_count,
            s.size_bytes
        FROM z_size_lifetime_sum AS s
        CROSS JOIN choice
    )
SELECT
    z_heap_place.heap AS heap,
    g.unit AS unit,
    CASE g.bits WHEN 0 THEN 0 ELSE 1 << (g.bits - 1) END AS at_least,
    1 << g.bits AS below,
    sum(g.allocation_count) AS allocation_count,
    sum(g.size_bytes) AS size_bytes
FROM lifetime AS g
JOIN z_heap_place ON z_heap_place.heap_id = g.heap_id
WHERE g.bits IS NOT NULL
GROUP BY g.heap_id, g.bits
ORDER BY g.heap_id, g.bits
-- begin guard :unit; -1
LIMIT CASE
    WHEN :unit IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
