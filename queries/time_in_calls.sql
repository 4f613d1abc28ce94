-- time_in_calls.sql: in which calls of the runtime did the program spend its time, as far as calls about memory go?
-- Parameters: :top    rows to return (default 30)
-- Columns:    pid process; call what was called: 'allocate' memory of a heap, 'copy' in a direction, or a word of
--             stream_call_kind (waiting for streams and events is what they take); heap name, or direction of copies, NULL
--             of streams; call_count calls, of allocations those whose cost is known; total_ns time in them, nanoseconds; mean_ns that of one,
--             nanoseconds; share_ratio of the time in all such calls of the process, 0 to 1; run_ratio of the time from the
--             begin of the process to its end, 0 to 1, with several threads it may be more, NULL where that is not known
WITH
    called (process_id, call, heap, call_count, total_ns) AS (
        SELECT
            h.process_id,
            'allocate',
            h.name,
            sum(w.cost_count),
            sum(w.cost_ns)
        FROM heap AS h
        JOIN z_heap_sum AS w ON w.heap_id = h.heap_id
        GROUP BY h.process_id, h.name
        UNION ALL
        SELECT
            c.process_id,
            'copy',
            k.name,
            sum(c.copy_count),
            sum(c.cost_ns)
        FROM z_copy_sum AS c
        JOIN copy_kind AS k ON k.kind = c.kind
        WHERE c.cost_ns IS NOT NULL
        GROUP BY c.process_id, c.kind
        UNION ALL
        SELECT
            s.process_id,
            k.name,
            NULL,
            sum(s.call_count),
            sum(s.cost_ns)
        FROM z_stream_call_sum AS s
        JOIN z_stream_call_kind AS k ON k.kind = s.kind
        WHERE s.cost_ns IS NOT NULL
        GROUP BY s.process_id, s.kind
    )
SELECT
    process.pid AS pid,
    c.call AS call,
    c.heap AS heap,
    c.call_count AS call_count,
    c.total_ns AS total_ns,
    c.total_ns / c.call_count AS mean_ns,
    CAST(c.total_ns AS REAL) / t.total_ns AS share_ratio,
    CASE
        WHEN process.end_ns > process.begin_ns
            THEN CAST(c.total_ns AS REAL) / (process.end_ns - process.begin_ns)
    END AS run_ratio
FROM called AS c
JOIN (
    SELECT
        called.process_id,
        sum(called.total_ns) AS total_ns
    FROM called
    GROUP BY called.process_id
) AS t ON t.process_id IS c.process_id
LEFT JOIN process ON process.process_id = c.process_id
WHERE c.total_ns > 0
ORDER BY c.total_ns DESC, c.process_id, c.call, c.heap
-- begin guard :top; coalesce(:top, 30)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 30)
END;
-- end guard
