-- difference_of_moments.sql: what came, went and stayed between two moments of one run, by site, largest change first.
-- Parameters: :from   the first moment: nanoseconds since the recording began, 'seq:N' (a place in the order of events), or a
--                     name in named_moment.sql: 'begin', 'end', 'peak' or the text of a mark (default 'begin')
--             :to     the second, likewise (default 'end')
--             :top    rows to return (default 50)
-- Columns:    heap name, or 'error: ...' where a moment is not known or none of the parameters that are set is one of these;
--             site file, line and function, '(baseline)' or '(no stack)'; from_bytes, to_bytes live at the two, bytes;
--             change_bytes between them, bytes; came_count, came_bytes live at the second alone, went_count, went_bytes at the
--             first alone, stayed_count, stayed_bytes at both, allocations and bytes. Segments are left out. Needs the rows of
--             all allocations (input.detail 'all')
WITH
    -- begin from_to
    asked (place, moment) AS (
        SELECT 1, CAST(coalesce(:from, 'begin') AS TEXT)
        UNION ALL SELECT 2, CAST(coalesce(:to, 'end') AS TEXT)
    ),
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
    -- DISTINCT, CROSS and the + keep SQLite from an index of its own over all allocations: one pass over them is enough.
    span (heap_id, from_seq, from_ns, to_seq, to_ns) AS (
        SELECT DISTINCT
            b.heap_id,
            b.seq,
            b.ns,
            e.seq,
            e.ns
        FROM point AS b
        JOIN point AS e ON e.heap_id = b.heap_id AND e.place = 2 AND coalesce(e.seq, e.ns) IS NOT NULL
        WHERE b.place = 1 AND coalesce(b.seq, b.ns) IS NOT NULL
    ),
    -- end from_to
    -- begin known point
    -- Where to look for what was live at the moments of point (table z_birth_part), and the rows there.
    near (heap_id, first_id, last_id) AS (
        SELECT DISTINCT
            y.heap_id,
            y.first_id,
            y.last_id
        FROM point AS x
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
    live (heap_id, is_baseline, stack_id, size_bytes, at_from, at_to) AS (
        SELECT
            a.heap_id,
            a.alloc_seq IS NULL AND a.stack_id IS NULL,
            a.stack_id,
            a.size_bytes,
            (a.alloc_seq IS NULL OR CASE WHEN s.from_seq IS NULL THEN a.alloc_ns <= s.from_ns ELSE a.alloc_seq <= s.from_seq END)
                AND (a.end_kind = 0 OR CASE WHEN s.from_seq IS NULL THEN a.free_ns > s.from_ns ELSE a.free_seq > s.from_seq END),
            (a.alloc_seq IS NULL OR CASE WHEN s.to_seq IS NULL THEN a.alloc_ns <= s.to_ns ELSE a.alloc_seq <= s.to_seq END)
                AND (a.end_kind = 0 OR CASE WHEN s.to_seq IS NULL THEN a.free_ns > s.to_ns ELSE a.free_seq > s.to_seq END)
        FROM known AS c
        CROSS JOIN allocation AS a ON a.allocation_id = c.allocation_id
        CROSS JOIN span AS s ON s.heap_id = a.heap_id
        WHERE +a.is_segment = 0
    ),
    by_site (heap_id, is_baseline, site_frame_id, from_bytes, to_bytes, came_count, came_bytes, went_count, went_bytes,
        stayed_count, stayed_bytes) AS (
        SELECT
            l.heap_id,
            l.is_baseline,
            s.site_frame_id,
            sum(l.at_from * l.size_bytes),
            sum(l.at_to * l.size_bytes),
            sum(l.at_to > l.at_from),
            sum((l.at_to > l.at_from) * l.size_bytes),
            sum(l.at_from > l.at_to),
            sum((l.at_from > l.at_to) * l.size_bytes),
            sum(l.at_from AND l.at_to),
            sum((l.at_from AND l.at_to) * l.size_bytes)
        FROM live AS l
        LEFT JOIN stack AS s ON s.stack_id = l.stack_id
        WHERE l.at_from = 1 OR l.at_to = 1
        GROUP BY l.heap_id, l.is_baseline, s.site_frame_id
    ),
    fault (text) AS (
        -- begin no_moment :from, :to or :top; :from, :to, :top
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
        SELECT 'error: parameters are set, but none of them is :from, :to or :top'
        WHERE coalesce(:from, :to, :top) IS NULL
            AND EXISTS (SELECT 1 FROM sqlite_temp_master AS m WHERE m.name = 'sqlite_parameters')
        -- end no_moment
    )
SELECT
    r.heap AS heap,
    r.site AS site,
    r.from_bytes AS from_bytes,
    r.to_bytes AS to_bytes,
    r.change_bytes AS change_bytes,
    r.came_count AS came_count,
    r.came_bytes AS came_bytes,
    r.went_count AS went_count,
    r.went_bytes AS went_bytes,
    r.stayed_count AS stayed_count,
    r.stayed_bytes AS stayed_bytes
FROM (
    SELECT
        t.text AS heap,
        NULL AS site,
        NULL AS from_bytes,
        NULL AS to_bytes,
        NULL AS change_bytes,
        NULL AS came_count,
        NULL AS came_bytes,
        NULL AS went_count,
        NULL AS went_bytes,
        NULL AS stayed_count,
        NULL AS stayed_bytes,
        NULL AS heap_id
    FROM fault AS t
    UNION ALL
    SELECT
        p.heap,
        CASE WHEN g.is_baseline = 1 THEN '(baseline)' ELSE coalesce(f.label, '(no stack)') END,
        g.from_bytes,
        g.to_bytes,
        g.to_bytes - g.from_bytes,
        g.came_count,
        g.came_bytes,
        g.went_count,
        g.went_bytes,
        g.stayed_count,
        g.stayed_bytes,
        g.heap_id
    FROM by_site AS g
    JOIN z_heap_place AS p ON p.heap_id = g.heap_id
    LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
    WHERE NOT EXISTS (SELECT 1 FROM fault)
) AS r
ORDER BY abs(r.change_bytes) DESC, r.heap_id, r.site
LIMIT coalesce(:top, 50);
