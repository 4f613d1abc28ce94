-- diff_faults.sql: why rows do not tell what was live at a moment; NULL: they do. 0: there are none; 1: they are of
-- moments that are kept (:is_kept) alone; 2: they begin later.
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM input WHERE detail = 'none') THEN 0
    WHEN NOT :is_kept AND EXISTS (SELECT 1 FROM input WHERE detail <> 'all') THEN 1
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
