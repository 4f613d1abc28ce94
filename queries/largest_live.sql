-- largest_live.sql: which allocations were live at a moment, largest first.
-- Parameters: :at_ns  moment, nanoseconds since the trace began (default: the end of the trace); needs a source with
--             times
--             :at_seq moment as a place in the order of events, wins over :at_ns (default: the end of the trace)
--             :top    rows to return (default 20)
-- Columns:    heap name; address hexadecimal text; size_bytes bytes; age_ns nanoseconds at the moment (with :at_seq
--             at the last birth before it), NULL where unknown;
--             is_baseline 1 when it was there before the recording began; site file, line and function
SELECT
    heap_place.heap AS heap,
    printf('0x%x', allocation.address) AS address,
    allocation.size_bytes AS size_bytes,
    CASE
        WHEN :at_seq IS NOT NULL
            THEN (SELECT max(born.alloc_ns) FROM allocation AS born WHERE born.alloc_seq <= :at_seq)
        ELSE coalesce(:at_ns, (SELECT max(usage.last_ns) FROM usage))
    END - allocation.alloc_ns AS age_ns,
    allocation.alloc_seq IS NULL AS is_baseline,
    coalesce(frame.label, '(no stack)') AS site
FROM allocation
JOIN heap_place ON heap_place.heap_id = allocation.heap_id
LEFT JOIN stack ON stack.stack_id = allocation.stack_id
LEFT JOIN frame ON frame.frame_id = stack.site_frame_id
WHERE allocation.is_segment = 0
    AND (allocation.alloc_seq IS NULL
        OR CASE
            WHEN :at_seq IS NOT NULL THEN allocation.alloc_seq <= :at_seq
            WHEN :at_ns IS NOT NULL THEN allocation.alloc_ns <= :at_ns
            ELSE 1
        END)
    AND (allocation.end_kind = 0
        OR CASE
            WHEN :at_seq IS NOT NULL THEN allocation.free_seq > :at_seq
            WHEN :at_ns IS NOT NULL THEN allocation.free_ns > :at_ns
            ELSE 0
        END)
ORDER BY allocation.size_bytes DESC, allocation.allocation_id
LIMIT coalesce(:top, 20);
