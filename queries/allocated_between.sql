-- allocated_between.sql: what was allocated between two moments, how much of it is still live at the second, and at the end.
-- Parameters: :from   the first moment: nanoseconds since the recording began, 'seq:N' (a place in the order of events), or a
--                     name in named_moment.sql: 'begin', 'end', 'peak' or the text of a mark (default 'begin')
--             :to     the second, likewise (default 'end')
--             :top    rows to return (default 50)
-- Columns:    heap name, or 'error: ...' where a moment is not known or none of the parameters that are set is one of these;
--             site file, line and function, or '(no stack)'; allocated_count, allocated_bytes after the first moment and up to
--             the second, allocations and bytes; to_count, to_bytes of these still live at the second; end_count, end_bytes at
--             the end of the recording. Most bytes that stay at the second first. Segments are left out. Needs the rows of all
--             allocations (input.detail 'all')
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
    -- The whole recording, of which there are sums, and what of it is live at its end.
    whole (heap_id) AS (
        SELECT s.heap_id
        FROM span AS s
        JOIN heap AS h ON h.heap_id = s.heap_id
        JOIN process AS q ON q.process_id = h.process_id
        JOIN input AS i ON i.input_id = q.input_id
        WHERE i.detail = 'all'
            AND s.from_seq < i.first_seq
            AND s.to_seq >= i.last_seq
            AND s.heap_id IN (SELECT z.heap_id FROM z_birth_sum AS z)
    ),
    made (heap_id, stack_id, allocated_count, allocated_bytes, to_count, to_bytes, end_count, end_bytes) AS (
        SELECT
            z.heap_id,
            z.stack_id,
            z.allocation_count,
            z.allocated_bytes,
            0,
            0,
            0,
            0
        FROM z_birth_sum AS z
        JOIN whole AS w ON w.heap_id = z.heap_id
        UNION ALL
        SELECT
            d.heap_id,
            d.stack_id,
            0,
            0,
            count(*),
            sum(d.size_bytes),
            count(*),
            sum(d.size_bytes)
        FROM known AS c
        CROSS JOIN allocation AS d ON d.allocation_id = c.allocation_id
        CROSS JOIN whole AS w ON w.heap_id = d.heap_id
        WHERE d.is_segment = 0 AND d.alloc_seq IS NOT NULL AND d.end_kind = 0
        GROUP BY d.heap_id, d.stack_id
        UNION ALL
        SELECT
            a.heap_id,
            a.stack_id,
            count(*),
            sum(a.size_bytes),
            sum((a.end_kind = 0 OR CASE WHEN s.to_seq IS NULL THEN a.free_ns > s.to_ns ELSE a.free_seq > s.to_seq END)),
            sum((a.end_kind = 0 OR CASE WHEN s.to_seq IS NULL THEN a.free_ns > s.to_ns ELSE a.free_seq > s.to_seq END) * a.size_bytes),
            sum(a.end_kind = 0),
            sum((a.end_kind = 0) * a.size_bytes)
        FROM span AS s
        CROSS JOIN z_birth_part AS y
            ON y.heap_id = s.heap_id
            AND y.is_long = 0
            AND (s.from_seq IS NULL OR y.last_seq > s.from_seq)
            AND (s.to_seq IS NULL OR coalesce(y.first_seq, -1) <= s.to_seq)
        CROSS JOIN allocation AS a ON a.allocation_id BETWEEN y.first_id AND y.last_id AND +a.heap_id = y.heap_id
        WHERE s.heap_id NOT IN (SELECT w.heap_id FROM whole AS w)
            AND +a.is_segment = 0
            AND a.alloc_seq IS NOT NULL
            AND CASE WHEN s.from_seq IS NULL THEN a.alloc_ns > s.from_ns ELSE a.alloc_seq > s.from_seq END
            AND CASE WHEN s.to_seq IS NULL THEN a.alloc_ns <= s.to_ns ELSE a.alloc_seq <= s.to_seq END
        GROUP BY a.heap_id, a.stack_id
    ),
    by_site (heap_id, site_frame_id, allocated_count, allocated_bytes, to_count, to_bytes, end_count, end_bytes) AS (
        SELECT
            g.heap_id,
            k.site_frame_id,
            sum(g.allocated_count),
            sum(g.allocated_bytes),
            sum(g.to_count),
            sum(g.to_bytes),
            sum(g.end_count),
            sum(g.end_bytes)
        FROM made AS g
        LEFT JOIN stack AS k ON k.stack_id = g.stack_id
        GROUP BY g.heap_id, k.site_frame_id
    ),
    fault (text) AS (
        SELECT 'error: not every allocation from ''' || f.moment || ''' to ''' || t.moment || ''' has a row: see input.detail'
        FROM asked AS f
        JOIN asked AS t ON f.place = 1 AND t.place = 2
        WHERE EXISTS (
            SELECT 1
            FROM span AS s
            JOIN heap AS h ON h.heap_id = s.heap_id
            JOIN process AS o ON o.process_id = h.process_id
            JOIN input AS i ON i.input_id = o.input_id
            WHERE i.detail <> 'all'
                AND NOT coalesce(
                    (
                        i.window_begin_seq <= i.first_seq
                        OR CASE
                            WHEN s.from_seq IS NULL THEN s.from_ns >= i.window_begin_ns
                            ELSE s.from_seq >= i.window_begin_seq - 1
                        END
                    )
                    AND CASE
                        WHEN s.to_seq IS NULL THEN s.to_ns < coalesce(i.window_end_ns, 9223372036854775807)
                        ELSE s.to_seq <= i.window_end_seq
                    END,
                    0
                )
        )
        UNION ALL
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
    r.allocated_count AS allocated_count,
    r.allocated_bytes AS allocated_bytes,
    r.to_count AS to_count,
    r.to_bytes AS to_bytes,
    r.end_count AS end_count,
    r.end_bytes AS end_bytes
FROM (
    SELECT
        t.text AS heap,
        NULL AS site,
        NULL AS allocated_count,
        NULL AS allocated_bytes,
        NULL AS to_count,
        NULL AS to_bytes,
        NULL AS end_count,
        NULL AS end_bytes,
        NULL AS heap_id
    FROM fault AS t
    UNION ALL
    SELECT
        p.heap,
        coalesce(f.label, '(no stack)'),
        g.allocated_count,
        g.allocated_bytes,
        g.to_count,
        g.to_bytes,
        g.end_count,
        g.end_bytes,
        g.heap_id
    FROM by_site AS g
    JOIN z_heap_place AS p ON p.heap_id = g.heap_id
    LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
    WHERE NOT EXISTS (SELECT 1 FROM fault)
) AS r
ORDER BY r.to_bytes DESC, r.allocated_bytes DESC, r.heap_id, r.site
LIMIT coalesce(:top, 50);
