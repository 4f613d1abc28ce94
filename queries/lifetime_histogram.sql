-- lifetime_histogram.sql: how long allocations live, in powers of two.
-- Parameters: :unit   'ns' nanoseconds or 'seq' events in between (default: 'ns' where times are known, else 'seq')
-- Columns:    heap name; unit of the bounds; at_least, below bounds of the lifetime; allocation_count allocations;
--             size_bytes
--             their bytes. Allocations that were never freed, and the baseline, are not in it.
SELECT
    z_heap_place.heap AS heap,
    CASE s.measure WHEN 'life_ns' THEN 'ns' ELSE 'seq' END AS unit,
    CASE s.bits WHEN 0 THEN 0 ELSE 1 << (s.bits - 1) END AS at_least,
    1 << s.bits AS below,
    s.allocation_count AS allocation_count,
    s.size_bytes AS size_bytes
FROM z_histogram AS s
JOIN z_heap_place ON z_heap_place.heap_id = s.heap_id
WHERE s.measure = CASE
        WHEN :unit = 'ns' THEN 'life_ns'
        WHEN :unit IS NOT NULL THEN 'life_events'
        WHEN EXISTS (SELECT 1 FROM z_histogram AS t WHERE t.measure = 'life_ns') THEN 'life_ns'
        ELSE 'life_events'
    END
ORDER BY s.heap_id, s.bits
-- begin guard :unit; -1
LIMIT CASE
    WHEN :unit IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
