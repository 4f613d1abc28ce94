-- allocated_by_step.sql: how much did each site allocate in each step, and how much of it outlived the step?
-- Parameters: :step   number of the step, as the program counts (default: all)
--             :site   text within the site's 'file:line function' (default: all)
--             :top    rows to return (default 1000)
-- Columns:    heap name, or 'error: ...' where none of the parameters that are set is one of these; step number, as the program
--             counts; site file, line and function, or '(no stack)'; allocation_count, allocated_bytes in the step, allocations
--             and bytes; left_count, left_bytes of these not freed by its end. In order of steps, most bytes first. Segments
--             are left out. Needs the rows of all allocations (input.detail 'all')
WITH RECURSIVE
    -- The first steps: more each time, by how many rows there were, until there are as many as are to be returned. All of them where
    -- the rows are many, or of few steps.
    reach (last_id, next_id, row_count) AS (
        SELECT
            0,
            CASE WHEN :step IS NULL AND :site IS NULL AND coalesce(:top, 1000) <= 10000 THEN 4 ELSE max(o.step_id) END,
            0
        FROM step AS o
        UNION ALL
        SELECT
            r.next_id,
            max(r.next_id * 2, min(r.next_id * 64, CAST(1.1 * r.last_id * coalesce(:top, 1000) / max(r.row_count, 1) AS INTEGER))),
            CASE
                WHEN r.next_id < (SELECT max(o.step_id) FROM step AS o)
                    THEN (
                        SELECT count(*)
                        FROM (
                            SELECT 1
                            FROM (
                                -- begin born r.next_id
                                -- What was born in the steps that are asked for, up to step r.next_id.
                                SELECT
                                    g.step_id,
                                    a.heap_id,
                                    w.site_frame_id,
                                    g.number,
                                    a.size_bytes,
                                    CASE a.end_kind WHEN 0 THEN 9223372036854775807 ELSE a.free_seq END >= coalesce(g.end_seq, 9223372036854775807) AS is_left
                                FROM (
                                    SELECT
                                        v.process_id,
                                        min(v.begin_seq) AS begin_seq,
                                        max(coalesce(v.end_seq, 9223372036854775807)) AS end_seq
                                    FROM step AS v
                                    WHERE v.step_id <= r.next_id AND (:step IS NULL OR v.number = :step)
                                    GROUP BY +v.process_id
                                ) AS u
                                CROSS JOIN heap AS h ON h.process_id = u.process_id
                                CROSS JOIN z_birth_part AS y
                                    ON y.heap_id = h.heap_id
                                    AND y.is_long = 0
                                    AND y.last_seq >= u.begin_seq
                                    AND coalesce(y.first_seq, -1) < u.end_seq
                                CROSS JOIN allocation AS a ON a.allocation_id BETWEEN y.first_id AND y.last_id AND +a.heap_id = y.heap_id
                                CROSS JOIN step AS g
                                    ON g.step_id = (
                                        SELECT j.step_id
                                        FROM step AS j
                                        WHERE j.process_id = u.process_id AND j.begin_seq <= a.alloc_seq
                                        ORDER BY j.begin_seq DESC
                                        LIMIT 1
                                    )
                                LEFT JOIN stack AS w ON w.stack_id = a.stack_id
                                LEFT JOIN frame AS e ON e.frame_id = w.site_frame_id
                                WHERE +a.is_segment = 0
                                    AND a.alloc_seq >= u.begin_seq
                                    AND a.alloc_seq < coalesce(g.end_seq, 9223372036854775807)
                                    AND g.step_id <= r.next_id
                                    AND (:step IS NULL OR g.number = :step)
                                    AND (:site IS NULL OR instr(coalesce(e.label, '(no stack)'), :site) > 0)
                                -- end born
                            ) AS b
                            GROUP BY b.step_id, b.heap_id, b.site_frame_id
                        )
                    )
                ELSE 9223372036854775807
            END
        FROM reach AS r
        WHERE r.row_count < coalesce(:top, 1000) AND r.last_id < (SELECT max(o.step_id) FROM step AS o)
    ),
    by_site (step_id, heap_id, site_frame_id, number, allocation_count, allocated_bytes, left_count, left_bytes) AS (
        SELECT
            b.step_id,
            b.heap_id,
            b.site_frame_id,
            b.number,
            count(*),
            sum(b.size_bytes),
            sum(b.is_left),
            sum(b.is_left * b.size_bytes)
        FROM (
            -- begin born (SELECT max(i.last_id) FROM reach AS i)
            -- What was born in the steps that are asked for, up to step (SELECT max(i.last_id) FROM reach AS i).
            SELECT
                g.step_id,
                a.heap_id,
                w.site_frame_id,
                g.number,
                a.size_bytes,
                CASE a.end_kind WHEN 0 THEN 9223372036854775807 ELSE a.free_seq END >= coalesce(g.end_seq, 9223372036854775807) AS is_left
            FROM (
                SELECT
                    v.process_id,
                    min(v.begin_seq) AS begin_seq,
                    max(coalesce(v.end_seq, 9223372036854775807)) AS end_seq
                FROM step AS v
                WHERE v.step_id <= (SELECT max(i.last_id) FROM reach AS i) AND (:step IS NULL OR v.number = :step)
                GROUP BY +v.process_id
            ) AS u
            CROSS JOIN heap AS h ON h.process_id = u.process_id
            CROSS JOIN z_birth_part AS y
                ON y.heap_id = h.heap_id
                AND y.is_long = 0
                AND y.last_seq >= u.begin_seq
                AND coalesce(y.first_seq, -1) < u.end_seq
            CROSS JOIN allocation AS a ON a.allocation_id BETWEEN y.first_id AND y.last_id AND +a.heap_id = y.heap_id
            CROSS JOIN step AS g
                ON g.step_id = (
                    SELECT j.step_id
                    FROM step AS j
                    WHERE j.process_id = u.process_id AND j.begin_seq <= a.alloc_seq
                    ORDER BY j.begin_seq DESC
                    LIMIT 1
                )
            LEFT JOIN stack AS w ON w.stack_id = a.stack_id
            LEFT JOIN frame AS e ON e.frame_id = w.site_frame_id
            WHERE +a.is_segment = 0
                AND a.alloc_seq >= u.begin_seq
                AND a.alloc_seq < coalesce(g.end_seq, 9223372036854775807)
                AND g.step_id <= (SELECT max(i.last_id) FROM reach AS i)
                AND (:step IS NULL OR g.number = :step)
                AND (:site IS NULL OR instr(coalesce(e.label, '(no stack)'), :site) > 0)
            -- end born
        ) AS b
        GROUP BY b.step_id, b.heap_id, b.site_frame_id
    ),
    fault (text) AS (
        -- begin no_parameter :step, :site or :top; :step, :site, :top
        SELECT 'error: parameters are set, but none of them is :step, :site or :top'
        WHERE coalesce(:step, :site, :top) IS NULL
            AND EXISTS (SELECT 1 FROM sqlite_temp_master AS m WHERE m.name = 'sqlite_parameters')
        -- end no_parameter
    )
SELECT
    r.heap AS heap,
    r.step AS step,
    r.site AS site,
    r.allocation_count AS allocation_count,
    r.allocated_bytes AS allocated_bytes,
    r.left_count AS left_count,
    r.left_bytes AS left_bytes
FROM (
    SELECT
        t.text AS heap,
        NULL AS step,
        NULL AS site,
        NULL AS allocation_count,
        NULL AS allocated_bytes,
        NULL AS left_count,
        NULL AS left_bytes,
        NULL AS step_id,
        NULL AS heap_id
    FROM fault AS t
    UNION ALL
    SELECT
        p.heap,
        g.number,
        coalesce(f.label, '(no stack)'),
        g.allocation_count,
        g.allocated_bytes,
        g.left_count,
        g.left_bytes,
        g.step_id,
        g.heap_id
    FROM by_site AS g
    JOIN z_heap_place AS p ON p.heap_id = g.heap_id
    LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
    WHERE NOT EXISTS (SELECT 1 FROM fault)
) AS r
ORDER BY r.step_id, r.heap_id, r.allocated_bytes DESC, r.site
LIMIT coalesce(:top, 1000);
