-- segment_of_block.sql: who shares a segment with a block: all that was live in it at a moment, in order of addresses.
-- Parameters: :block  the block: its number (allocation_id), or its address (default: the largest that was live in a
--                     segment)
--             :at     the moment: nanoseconds since the recording began, 'seq:N' (a place in the order of events), or a name in
--                     named_moment.sql: 'end', 'peak' or the text of a mark (default 'end')
--             :top    rows to return (default 1000)
-- Columns:    heap name, or 'error: ...' where the moment or block is not known, the block was not live then, or none of the
--             parameters that are set is one of these; segment address of the driver allocation, hexadecimal text;
--             segment_bytes its size, bytes; segment_site where it was allocated; address of the block, hexadecimal text;
--             offset_bytes from the begin of the segment, bytes; size_bytes bytes; site file, line and function; age_ns
--             nanoseconds from its birth to the moment, NULL where that is not known; is_asked 1: it is the block that was
--             asked for. Needs the rows of all allocations (input.detail 'all')
WITH
    asked (place, moment) AS (
        SELECT 1, CAST(coalesce(:at, 'end') AS TEXT)
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
    live (allocation_id, heap_id, segment_id, address, size_bytes, stack_id, alloc_ns, moment_ns) AS (
        SELECT
            a.allocation_id,
            a.heap_id,
            a.segment_id,
            a.address,
            a.size_bytes,
            a.stack_id,
            a.alloc_ns,
            coalesce(s.ns, s.moment_ns)
        FROM known AS n
        CROSS JOIN allocation AS a ON a.allocation_id = n.allocation_id
        CROSS JOIN point AS s ON s.heap_id = a.heap_id AND coalesce(s.seq, s.ns) IS NOT NULL
        WHERE +a.segment_id IS NOT NULL
            AND (a.alloc_seq IS NULL OR CASE WHEN s.seq IS NULL THEN a.alloc_ns <= s.ns ELSE a.alloc_seq <= s.seq END)
            AND (a.end_kind = 0 OR CASE WHEN s.seq IS NULL THEN a.free_ns > s.ns ELSE a.free_seq > s.seq END)
    ),
    block (allocation_id, segment_id) AS (
        SELECT
            l.allocation_id,
            l.segment_id
        FROM live AS l
        WHERE :block IS NULL
            OR l.allocation_id = :block
            OR l.address = :block
            OR printf('0x%x', l.address) = :block
        ORDER BY l.size_bytes DESC, l.allocation_id
        LIMIT 1
    ),
    fault (text) AS (
        -- begin no_moment :block, :at or :top; :block, :at, :top
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
        SELECT 'error: parameters are set, but none of them is :block, :at or :top'
        WHERE coalesce(:block, :at, :top) IS NULL
            AND EXISTS (SELECT 1 FROM sqlite_temp_master AS m WHERE m.name = 'sqlite_parameters')
        -- end no_moment
        UNION ALL
        SELECT 'error: no block ' || coalesce(:block, '') || ' of a segment was live at that moment'
        WHERE NOT EXISTS (SELECT 1 FROM block) AND EXISTS (SELECT 1 FROM point AS k WHERE coalesce(k.seq, k.ns) IS NOT NULL)
    )
SELECT
    r.heap AS heap,
    r.segment AS segment,
    r.segment_bytes AS segment_bytes,
    r.segment_site AS segment_site,
    r.address AS address,
    r.offset_bytes AS offset_bytes,
    r.size_bytes AS size_bytes,
    r.site AS site,
    r.age_ns AS age_ns,
    r.is_asked AS is_asked
FROM (
    SELECT
        t.text AS heap,
        NULL AS segment,
        NULL AS segment_bytes,
        NULL AS segment_site,
        NULL AS address,
        NULL AS offset_bytes,
        NULL AS size_bytes,
        NULL AS site,
        NULL AS age_ns,
        NULL AS is_asked,
        NULL AS allocation_id
    FROM fault AS t
    UNION ALL
    SELECT
        p.heap,
        printf('0x%x', d.address),
        d.size_bytes,
        coalesce(e.label, '(no stack)'),
        printf('0x%x', l.address),
        l.address - d.address,
        l.size_bytes,
        coalesce(f.label, '(no stack)'),
        l.moment_ns - l.alloc_ns,
        l.allocation_id = b.allocation_id,
        l.allocation_id
    FROM block AS b
    JOIN live AS l ON l.segment_id = b.segment_id
    JOIN allocation AS d ON d.allocation_id = b.segment_id
    JOIN z_heap_place AS p ON p.heap_id = l.heap_id
    LEFT JOIN stack AS s ON s.stack_id = l.stack_id
    LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
    LEFT JOIN stack AS c ON c.stack_id = d.stack_id
    LEFT JOIN frame AS e ON e.frame_id = c.site_frame_id
    WHERE NOT EXISTS (SELECT 1 FROM fault)
) AS r
ORDER BY r.offset_bytes, r.allocation_id
LIMIT coalesce(:top, 1000);
