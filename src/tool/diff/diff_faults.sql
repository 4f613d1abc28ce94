-- diff_faults.sql: why rows do not tell what was live at a moment; NULL: they do. 0: there are none; 1: they are of
-- moments that are kept (:is_kept) alone; 2: they begin later; 3: they are of such moments, and of a window that it is not in.
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM input WHERE detail = 'none') THEN 0
    WHEN NOT :is_kept AND EXISTS (
        SELECT 1
        FROM input AS i
        WHERE i.detail <> 'all' AND NOT coalesce(
            i.detail = 'window' AND CASE
                WHEN :moment GLOB 'seq:*'
                    THEN CAST(substr(:moment, 5) AS INTEGER) BETWEEN i.window_begin_seq - 1 AND i.window_end_seq
                WHEN :moment GLOB 'ns:*' THEN CAST(substr(:moment, 4) AS INTEGER) >= i.window_begin_ns
                    AND CAST(substr(:moment, 4) AS INTEGER) < coalesce(i.window_end_ns, 9223372036854775807)
                WHEN :moment GLOB 'step:*' THEN NOT EXISTS (
                    SELECT 1
                    FROM step AS s
                    JOIN process AS p ON p.process_id = s.process_id
                    WHERE p.input_id = i.input_id AND s.number = CAST(substr(:moment, 6) AS INTEGER)
                        AND s.begin_seq - 1 NOT BETWEEN i.window_begin_seq - 1 AND i.window_end_seq
                )
            END,
            0
        )
    ) THEN CASE WHEN EXISTS (SELECT 1 FROM input WHERE detail = 'window') THEN 3 ELSE 1 END
    WHEN EXISTS (
        SELECT 1
        FROM input
        WHERE CASE
            WHEN :moment GLOB 'seq:*' THEN CAST(substr(:moment, 5) AS INTEGER) < detail_begin_seq
            WHEN :moment GLOB 'ns:*' THEN CAST(substr(:moment, 4) AS INTEGER) < detail_begin_ns
            WHEN :moment = 'peak' THEN EXISTS (
                SELECT 1
                FROM z_heap_sum
                WHERE coalesce(peak_seq, -1) < input.detail_begin_seq AND peak_bytes > 0
            )
        END
    ) THEN 2
END AS fault_number;
