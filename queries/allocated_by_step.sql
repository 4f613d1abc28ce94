-- allocated_by_step.sql: how much did each site allocate in each step, and how much of it outlived the step?
-- Parameters: :step   number of the step, as the program counts (default: all)
--             :site   text within the site's 'file:line function' (default: all)
--             :top    rows to return (default 1000)
-- Columns:    heap name, or 'error: ...' where none of the parameters that are set is one of these; step number, as the program
--             counts; site file, line and function, or '(no stack)'; allocation_count, allocated_bytes in the step, allocations
--             and bytes; left_count, left_bytes of these not freed by its end. In order of steps, most bytes first. Segments
--             are left out. Needs the rows of all allocations (input.detail 'all')
WITH
    born (step_id, heap_id, site_frame_id, size_bytes, alloc_seq, end_seq) AS (
        SELECT
            (
                SELECT step.step_id
                FROM step
                WHERE step.process_id = heap.process_id AND step.begin_seq <= a.alloc_seq
                ORDER BY step.begin_seq DESC
                LIMIT 1
            ),
            a.heap_id,
            s.site_frame_id,
            a.size_bytes,
            a.alloc_seq,
            CASE a.end_kind WHEN 0 THEN 9223372036854775807 ELSE a.free_seq END
        FROM allocation AS a
        JOIN heap ON heap.heap_id = a.heap_id
        LEFT JOIN stack AS s ON s.stack_id = a.stack_id
        LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
        WHERE +a.is_segment = 0
            AND a.alloc_seq IS NOT NULL
            AND (:site IS NULL OR instr(coalesce(f.label, '(no stack)'), :site) > 0)
    ),
    by_site (step_id, heap_id, site_frame_id, number, allocation_count, allocated_bytes, left_count, left_bytes) AS (
        SELECT
            b.step_id,
            b.heap_id,
            b.site_frame_id,
            step.number,
            count(*),
            sum(b.size_bytes),
            sum(b.end_seq >= coalesce(step.end_seq, 9223372036854775807)),
            sum((b.end_seq >= coalesce(step.end_seq, 9223372036854775807)) * b.size_bytes)
        FROM born AS b
        JOIN step ON step.step_id = b.step_id
        WHERE b.alloc_seq < coalesce(step.end_seq, 9223372036854775807)
            AND (:step IS NULL OR step.number = :step)
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
