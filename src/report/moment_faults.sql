-- moment_faults.sql: why rows of allocations do not tell what was live at a moment; NULL: they do. 0: there are none;
-- 1: they are of other moments alone; 2: they begin later; 3: they have no times; 4: they are of other moments, and of a
-- window that it is not in.
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM input WHERE detail = 'none') THEN 0
    WHEN EXISTS (
        SELECT 1
        FROM z_heap_sum AS u
        JOIN heap AS h ON h.heap_id = u.heap_id
        JOIN process AS o ON o.process_id = h.process_id
        JOIN input AS i ON i.input_id = o.input_id
        LEFT JOIN z_named_moment AS n ON n.heap_id = u.heap_id AND n.moment = :moment
        WHERE u.peak_bytes > 0
            AND i.detail <> 'all'
            AND :moment NOT IN ('end', 'peak', 'reserve')
            AND NOT EXISTS (
                SELECT 1
                FROM moment AS m
                WHERE m.kind = 3 AND m.name = :moment AND coalesce(m.process_id, h.process_id) = h.process_id
            )
            AND NOT coalesce(
                CASE
                    WHEN n.moment IS NOT NULL
                        THEN (n.seq >= i.window_begin_seq - 1 OR i.window_begin_seq <= i.first_seq) AND n.seq <= i.window_end_seq
                    WHEN :moment GLOB 'seq:*'
                        THEN CAST(substr(:moment, 5) AS INTEGER) BETWEEN i.window_begin_seq - 1 AND i.window_end_seq
                    ELSE CAST(:moment AS INTEGER) >= i.window_begin_ns
                        AND CAST(:moment AS INTEGER) < coalesce(i.window_end_ns, 9223372036854775807)
                END,
                0
            )
    ) THEN CASE WHEN EXISTS (SELECT 1 FROM input WHERE detail = 'window') THEN 4 ELSE 1 END
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
