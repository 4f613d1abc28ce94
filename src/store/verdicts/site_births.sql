-- site_births.sql: what is outstanding of each site, by the step in which it was born, with all that it is judged by.
-- In the order of site_levels.sql, so that both are read side by side. A site that is not known is 0.
-- After: judged_steps.sql
SELECT
    a.heap_id AS heap_id,
    coalesce(s.site_frame_id, 0) AS site_id,
    a.generation AS generation,
    sum(a.size_bytes) AS born_bytes,
    sum(a.allocation_count) AS born_count,
    coalesce(n.steps, 0) AS step_count,
    coalesce(max(l.max_steps), -1) AS longest_step_count,
    h.level IN (1, 7) AS is_by_births,
    max(i.events_dropped + i.events_damaged + i.events_unrecovered) > 0 AS is_lost,
    coalesce(n.unseen, 0) AS unseen_count,
    coalesce(f.is_cut, 0) AS is_cut,
    n.process_id IN (SELECT c.process_id FROM z_step_anchor AS c WHERE c.kind = 'site' AND c.is_given = 0 AND c.is_trained = 0) AS is_served,
    max(i.baseline) <> 'none' AS is_from_middle,
    k.process_id IS NOT NULL AS is_anchor
FROM z_outstanding_birth AS a
JOIN heap AS h ON h.heap_id = a.heap_id
JOIN process AS p ON p.process_id = h.process_id
JOIN input AS i ON i.input_id = p.input_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN judged_steps AS n ON n.process_id = h.process_id
LEFT JOIN z_site_lifetime AS l ON l.heap_id = a.heap_id AND l.site_frame_id IS s.site_frame_id
LEFT JOIN (
    SELECT c.process_id, t.site_frame_id FROM z_step_anchor AS c JOIN stack AS t ON t.stack_id = c.stack_id WHERE c.kind = 'site'
) AS k ON k.process_id = h.process_id AND k.site_frame_id = s.site_frame_id
WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0 AND NOT EXISTS (SELECT 1 FROM z_site_verdict)
GROUP BY a.heap_id, site_id, a.generation
ORDER BY a.heap_id, site_id, a.generation;
