-- What was born in the steps that are asked for, up to step $1.
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
    WHERE v.step_id <= $1 AND (:step IS NULL OR v.number = :step)
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
    AND g.step_id <= $1
    AND (:step IS NULL OR g.number = :step)
    AND (:site IS NULL OR instr(coalesce(e.label, '(no stack)'), :site) > 0)
