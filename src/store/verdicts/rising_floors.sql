-- rising_floors.sql: of sites without steps in processes that ran for so many minutes, and of which nothing was lost:
-- the floors of what is live, each from its minute on. What may still be freed as late as others were is not asked for.
SELECT
    v.rowid AS verdict_id,
    v.heap_id AS heap_id,
    p.begin_minute AS begin_minute,
    p.end_minute AS end_minute,
    f.minute AS minute,
    f.floor_bytes AS floor_bytes
FROM (
    SELECT
        i.process_id,
        min(u.last_ns) / 60000000000 AS begin_minute,
        max(u.last_ns) / 60000000000 AS end_minute
    FROM usage AS u
    JOIN heap AS i ON i.heap_id = u.heap_id
    GROUP BY i.process_id
    HAVING end_minute - begin_minute >= (SELECT least FROM minimum WHERE judgement = 'rising')
) AS p
CROSS JOIN heap AS h ON h.process_id = p.process_id
CROSS JOIN z_site_verdict AS v ON v.heap_id = h.heap_id
CROSS JOIN process ON process.process_id = h.process_id
CROSS JOIN input ON input.input_id = process.input_id
CROSS JOIN z_site_floor AS f ON f.heap_id = v.heap_id AND f.site_frame_id IS v.site_frame_id
LEFT JOIN z_site_lifetime AS l ON l.heap_id = v.heap_id AND l.site_frame_id IS v.site_frame_id
CROSS JOIN (
    SELECT
        a.heap_id,
        s.site_frame_id,
        min(a.first_ns) AS first_ns
    FROM z_outstanding_birth AS a
    LEFT JOIN stack AS s ON s.stack_id = a.stack_id
    WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0 AND a.generation > 0
    GROUP BY a.heap_id, s.site_frame_id
) AS o ON o.heap_id = v.heap_id AND o.site_frame_id IS v.site_frame_id
WHERE v.reason = 'no steps'
    AND input.events_dropped + input.events_damaged + input.events_unrecovered = 0
    AND (l.p99_at_most_ns IS NULL OR p.end_minute * 60000000000 - o.first_ns > l.p99_at_most_ns)
ORDER BY v.rowid, f.minute;
