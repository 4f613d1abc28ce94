-- step_places.sql: where do steps begin, how is that known, and which other places are met as often?
-- A place of the second kind can be named: npumem-ingest --step-at PLACE.
-- Parameters: :slack  by how many a place may be met more or less often than there are steps (default 1)
--             :top    rows to return (default 30)
-- Columns:    pid process; is_chosen 1 where steps begin there, 0 another place that is met as often; source 'marked',
--             'inferred' or 'none' (of the chosen one); kind 'site', 'range' or 'optimizer'; place 'file:line function' of
--             a site, or name of a range; heap name of the heap that is allocated from there, NULL of a range and of the
--             chosen one; met_count how often it was met, times; step_count steps; reason why this one, or why none
SELECT
    p.pid AS pid,
    c.is_chosen AS is_chosen,
    c.source AS source,
    c.kind AS kind,
    c.place AS place,
    c.heap AS heap,
    c.met_count AS met_count,
    c.step_count AS step_count,
    c.reason AS reason
FROM (
    SELECT
        a.process_id,
        1 AS is_chosen,
        CASE a.kind WHEN 'marked' THEN 'marked' WHEN 'none' THEN 'none' ELSE 'inferred' END AS source,
        CASE WHEN a.kind NOT IN ('marked', 'none') THEN a.kind END AS kind,
        coalesce(a.name, f.label) AS place,
        NULL AS heap,
        NULL AS heap_id,
        a.recur_count AS met_count,
        a.step_count,
        a.reason
    FROM z_step_anchor AS a
    LEFT JOIN stack AS s ON s.stack_id = a.stack_id
    LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
    UNION ALL
    SELECT
        a.process_id,
        0,
        NULL,
        'site',
        f.label,
        h.name,
        h.heap_id,
        sum(t.allocation_count),
        a.step_count,
        NULL
    FROM z_step_anchor AS a
    JOIN heap AS h ON h.process_id = a.process_id
    JOIN z_stack_sum AS t ON t.heap_id = h.heap_id
    JOIN stack AS s ON s.stack_id = t.stack_id
    JOIN frame AS f ON f.frame_id = s.site_frame_id
    LEFT JOIN stack AS o ON o.stack_id = a.stack_id
    WHERE a.step_count > 1 AND s.site_frame_id IS NOT o.site_frame_id
    GROUP BY a.process_id, h.heap_id, s.site_frame_id
    HAVING abs(sum(t.allocation_count) - a.step_count) <= coalesce(:slack, 1)
    UNION ALL
    SELECT
        a.process_id,
        0,
        NULL,
        'range',
        o.name,
        NULL,
        NULL,
        o.run_count,
        a.step_count,
        NULL
    FROM z_step_anchor AS a
    JOIN z_operation_sum AS o ON o.process_id = a.process_id
    WHERE a.step_count > 1 AND o.kind = 0 AND o.name IS NOT a.name
        AND abs(o.run_count - a.step_count) <= coalesce(:slack, 1)
) AS c
JOIN process AS p ON p.process_id = c.process_id
ORDER BY
    c.process_id,
    c.is_chosen DESC,
    abs(c.met_count - c.step_count),
    c.kind,
    c.place,
    c.heap_id
-- begin guard coalesce(:slack, :top); coalesce(:top, 30)
LIMIT CASE
    WHEN coalesce(:slack, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 30)
END;
-- end guard
