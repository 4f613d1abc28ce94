-- largest_live.sql: which allocations were live at a moment, largest first.
-- Parameters: :at     moment: nanoseconds since the recording began, 'seq:N' (a place in the order of events), or a name in view
--                     named_moment.sql: 'begin', 'end', 'peak' (each heap's own) or the text of a mark (default 'end')
--             :at_ns  the same, nanoseconds alone; wins over :at; needs a source with times
--             :at_seq the same, a place in the order of events alone; wins over both
--             :top    rows to return (default 20)
-- Columns:    heap name, or 'error: ...' where the moment is not known or none of the parameters that are set is one of these;
--             address hexadecimal text; size_bytes bytes; age_ns nanoseconds at the moment (of a place in the order of events
--             at the last birth before it), NULL where unknown; is_baseline 1 when it was there before the recording began;
--             site file, line and function. Needs the rows of all allocations (input.detail 'all')
WITH
    asked (place, moment) AS (
        SELECT 1, CAST(CASE WHEN :at_seq IS NOT NULL THEN 'seq:' || :at_seq ELSE coalesce(:at_ns, :at, 'end') END AS TEXT)
    ),
    -- begin point
    point (heap_id, place, seq, ns, moment_ns) AS (
        SELECT
            h.heap_id,
            q.place,
            coalesce(
                n.seq,
                CASE
                    WHEN 'seq:' || CAST(substr(q.moment, 5) AS INTEGER) = q.moment
                        THEN CAST(substr(q.moment, 5) AS INTEGER)
                END
            ),
            CASE WHEN CAST(CAST(q.moment AS INTEGER) AS TEXT) = q.moment THEN CAST(q.moment AS INTEGER) END,
            n.ns
        FROM asked AS q
        CROSS JOIN heap AS h
        LEFT JOIN z_named_moment AS n ON n.heap_id = h.heap_id AND n.moment = q.moment
    ),
    -- end point
    span (heap_id, seq, ns, moment_ns) AS (
        SELECT DISTINCT
            s.heap_id,
            s.seq,
            s.ns,
            coalesce(
                s.ns,
                s.moment_ns,
                ( -- once, not for each heap: only 'seq:N', the same of all, has no time of its own
                    SELECT max(b.alloc_ns)
                    FROM allocation AS b
                    WHERE b.alloc_seq <= (SELECT max(k.seq) FROM point AS k WHERE k.ns IS NULL AND k.moment_ns IS NULL)
                )
            )
        FROM point AS s
        WHERE coalesce(s.seq, s.ns) IS NOT NULL
    ),
    -- begin known span
    -- Where to look for what was live at the moments of span (table z_birth_part), and the rows there.
    near (heap_id, first_id, last_id) AS (
        SELECT DISTINCT
            y.heap_id,
            y.first_id,
            y.last_id
        FROM span AS x
        CROSS JOIN z_birth_part AS y ON y.heap_id = x.heap_id
        WHERE coalesce(x.seq, x.ns) IS NOT NULL
            AND CASE
                WHEN x.seq IS NULL THEN coalesce(y.first_ns <= x.ns, 1) AND coalesce(y.end_ns > x.ns, 1)
                ELSE coalesce(y.first_seq <= x.seq, 1) AND coalesce(y.end_seq > x.seq, 1)
            END
    ),
    known (allocation_id) AS (
        SELECT DISTINCT there.allocation_id
        FROM near AS x
        CROSS JOIN allocation AS there ON there.allocation_id BETWEEN x.first_id AND x.last_id AND +there.heap_id = x.heap_id
    ),
    -- end known
    fault (text) AS (
        -- begin no_moment :at, :at_ns, :at_seq or :top; :at, :at_ns, :at_seq, :top
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
        SELECT 'error: parameters are set, but none of them is :at, :at_ns, :at_seq or :top'
        WHERE coalesce(:at, :at_ns, :at_seq, :top) IS NULL
            AND EXISTS (SELECT 1 FROM sqlite_temp_master AS m WHERE m.name = 'sqlite_parameters')
        -- end no_moment
    )
SELECT
    r.heap AS heap,
    r.address AS address,
    r.size_bytes AS size_bytes,
    r.age_ns AS age_ns,
    r.is_baseline AS is_baseline,
    r.site AS site
FROM (
    SELECT
        t.text AS heap,
        NULL AS address,
        NULL AS size_bytes,
        NULL AS age_ns,
        NULL AS is_baseline,
        NULL AS site,
        NULL AS allocation_id
    FROM fault AS t
    UNION ALL
    SELECT
        p.heap,
        printf('0x%x', a.address),
        a.size_bytes,
        s.moment_ns - a.alloc_ns,
        a.alloc_seq IS NULL,
        coalesce(f.label, '(no stack)'),
        a.allocation_id
    FROM known AS c
    CROSS JOIN allocation AS a ON a.allocation_id = c.allocation_id
    CROSS JOIN span AS s ON s.heap_id = a.heap_id
    JOIN z_heap_place AS p ON p.heap_id = a.heap_id
    LEFT JOIN stack AS w ON w.stack_id = a.stack_id
    LEFT JOIN frame AS f ON f.frame_id = w.site_frame_id
    WHERE +a.is_segment = 0
        AND (a.alloc_seq IS NULL OR CASE WHEN s.seq IS NULL THEN a.alloc_ns <= s.ns ELSE a.alloc_seq <= s.seq END)
        AND (a.end_kind = 0 OR CASE WHEN s.seq IS NULL THEN a.free_ns > s.ns ELSE a.free_seq > s.seq END)
        AND NOT EXISTS (SELECT 1 FROM fault)
) AS r
ORDER BY r.size_bytes DESC, r.allocation_id
LIMIT coalesce(:top, 20);
