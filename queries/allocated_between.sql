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
    by_site (heap_id, site_frame_id, allocated_count, allocated_bytes, to_count, to_bytes, end_count, end_bytes) AS (
        SELECT
            a.heap_id,
            w.site_frame_id,
            count(*),
            sum(a.size_bytes),
            sum((a.end_kind = 0 OR CASE WHEN s.to_seq IS NULL THEN a.free_ns > s.to_ns ELSE a.free_seq > s.to_seq END)),
            sum((a.end_kind = 0 OR CASE WHEN s.to_seq IS NULL THEN a.free_ns > s.to_ns ELSE a.free_seq > s.to_seq END) * a.size_bytes),
            sum(a.end_kind = 0),
            sum((a.end_kind = 0) * a.size_bytes)
        FROM allocation AS a
        CROSS JOIN span AS s ON s.heap_id = a.heap_id
        LEFT JOIN stack AS w ON w.stack_id = a.stack_id
        WHERE +a.is_segment = 0
            AND a.alloc_seq IS NOT NULL
            AND CASE WHEN s.from_seq IS NULL THEN a.alloc_ns > s.from_ns ELSE a.alloc_seq > s.from_seq END
            AND CASE WHEN s.to_seq IS NULL THEN a.alloc_ns <= s.to_ns ELSE a.alloc_seq <= s.to_seq END
        GROUP BY a.heap_id, w.site_frame_id
    ),
    fault (text) AS (
        -- begin no_moment :from, :to or :top; :from, :to, :top
        SELECT 'error: no moment ''' || q.moment || ''': nanoseconds, seq:N, or a name in view z_named_moment'
        FROM asked AS q
        WHERE NOT EXISTS (SELECT 1 FROM point AS p WHERE p.place = q.place AND coalesce(p.seq, p.ns) IS NOT NULL)
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
