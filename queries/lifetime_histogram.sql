-- lifetime_histogram.sql: how long allocations live, in powers of two.
-- Parameters: :unit   'ns' nanoseconds or 'seq' events in between (default: 'ns' where times are known, else 'seq')
-- Columns:    heap name; unit of the bounds; at_least, below bounds of the lifetime; allocation_count allocations;
--             size_bytes
--             their bytes. Allocations that were never freed, and the baseline, are not in it.
WITH
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
    ),
    -- A hexadecimal digit is four bits, of which the first digit may use fewer.
    sized (heap_id, unit, bits, size_bytes) AS (
        SELECT
            lifetime.heap_id,
            lifetime.unit,
            CASE
                WHEN lifetime.length = 0 THEN 0
                ELSE 4 * length(printf('%x', lifetime.length)) - CASE substr(printf('%x', lifetime.length), 1, 1)
                    WHEN '1' THEN 3
                    WHEN '2' THEN 2
                    WHEN '3' THEN 2
                    WHEN '4' THEN 1
                    WHEN '5' THEN 1
                    WHEN '6' THEN 1
                    WHEN '7' THEN 1
                    ELSE 0
                END
            END,
            lifetime.size_bytes
        FROM lifetime
        WHERE lifetime.length >= 0
    )
SELECT
    z_heap_place.heap AS heap,
    sized.unit AS unit,
    CASE sized.bits WHEN 0 THEN 0 ELSE 1 << (sized.bits - 1) END AS at_least,
    1 << sized.bits AS below,
    count(*) AS allocation_count,
    sum(sized.size_bytes) AS size_bytes
FROM sized
JOIN z_heap_place ON z_heap_place.heap_id = sized.heap_id
GROUP BY sized.heap_id, sized.bits
ORDER BY sized.heap_id, sized.bits
-- begin guard :unit; -1
LIMIT CASE
    WHEN :unit IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
