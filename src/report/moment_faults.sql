-- moment_faults.sql: why rows of allocations do not tell what was live at a moment; NULL: they do. 0: there are none;
-- 1: they are of other moments alone; 2: they begin later; 3: they have no times.
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM input WHERE detail = 'none') THEN 0
    WHEN EXISTS (
        SELECT 1
        FROM input
        WHERE detail <> 'all' AND NOT EXISTS (SELECT 1 FROM z_named_moment WHERE moment = :moment)
    ) THEN 1
    WHEN EXISTS (
        SELECT 1
        FROM input
        JOIN z_heap_place AS p ON p.input_id = input.input_id
        JOIN z_heap_sum AS s ON s.heap_id = p.heap_id
        LEFT JOIN z_named_moment AS n ON n.heap_id = p.heap_id AND n.moment = :moment
        WHERE s.peak_bytes > 0 AND CASE
            WHEN n.moment IS NOT NULL THEN n.seq < input.detail_begin_seq
            WHEN :moment GLOB 'seq:*' THEN CAST(substr(:moment, 5) AS INTEGER) < input.detail_begin_seq
            ELSE CAST(:moment AS INTEGER) < input.detail_begin_ns
        END
    ) THEN 2
    WHEN :moment NOT GLOB 'seq:*' AND NOT EXISTS (SELECT 1 FROM z_named_moment WHERE moment = :moment)
        AND EXISTS (
            SELECT 1
            FROM allocation
            WHERE (alloc_seq IS NOT NULL AND alloc_ns IS NULL) OR (free_seq IS NOT NULL AND free_ns IS NULL)
        ) THEN 3
END AS fault_number;
