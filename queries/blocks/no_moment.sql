SELECT 'error: no moment ''' || q.moment || ''': nanoseconds, seq:N, or a name in view z_named_moment'
FROM asked AS q
WHERE NOT EXISTS (SELECT 1 FROM point AS p WHERE p.place = q.place AND coalesce(p.seq, p.ns) IS NOT NULL)
UNION ALL
SELECT 'error: not every allocation that was live at ''' || q.moment || ''' has a row: see input.detail'
FROM asked AS q
WHERE EXISTS (
    SELECT 1
    FROM point AS p
    JOIN z_heap_sum AS u ON u.heap_id = p.heap_id AND u.peak_bytes > 0
    JOIN heap AS h ON h.heap_id = p.heap_id
    JOIN process AS o ON o.process_id = h.process_id
    JOIN input AS i ON i.input_id = o.input_id
    WHERE p.place = q.place
        AND i.detail <> 'all'
        AND (
            i.detail = 'none'
            OR NOT (
                q.moment IN ('end', 'peak', 'reserve')
                OR EXISTS (
                    SELECT 1
                    FROM moment AS m
                    WHERE m.kind = 3 AND m.name = q.moment AND coalesce(m.process_id, h.process_id) = h.process_id
                )
            )
        )
        AND NOT coalesce(
            CASE
                WHEN p.seq IS NULL
                    THEN p.ns >= i.window_begin_ns AND p.ns < coalesce(i.window_end_ns, 9223372036854775807)
                ELSE (p.seq >= i.window_begin_seq - 1 OR i.window_begin_seq <= i.first_seq) AND p.seq <= i.window_end_seq
            END,
            0
        )
)
UNION ALL
-- begin no_parameter $1; $2
