-- What grows of one size, where a site as a whole does not say it: stacks are cut, and the site may be many; it replaces others by other
-- blocks, as a helper that many call does; or it comes and goes. Firm where the whole history is here, blocks of the size that nobody
-- freed were born about evenly in all fifths of the steps (the first and the last left out), and the heap grew in each of these by half
-- of them or more: so none of them replaces others, and no queue, cache or warm-up looks like it. Of several inputs each brings its own.
-- After: z_outstanding_sum, z_site_verdict of what grows from step to step or replaces others.
CREATE TEMP TABLE grown_size AS
WITH
    whole AS (
        SELECT
            h.heap_id,
            max(t.generation) AS step_count
        FROM heap AS h
        JOIN process AS p ON p.process_id = h.process_id
        JOIN input AS i ON i.input_id = p.input_id
        JOIN step AS t ON t.process_id = h.process_id
        WHERE i.baseline = 'none' AND i.detail_begin_seq IS NULL AND i.is_loss_exact = 1
            AND i.events_dropped + i.events_damaged + i.events_unrecovered = 0
            AND NOT EXISTS (SELECT 1 FROM z_pause AS q WHERE q.process_id = h.process_id)
            AND NOT EXISTS (SELECT 1 FROM z_leaked_sum)
        GROUP BY h.heap_id
        HAVING step_count >= 12
    ),
    site AS (
        SELECT
            v.heap_id,
            coalesce(v.site_frame_id, 0) AS site_id,
            w.step_count
        FROM whole AS w
        JOIN z_site_verdict AS v ON v.heap_id = w.heap_id
        WHERE v.reason IN ('stack cut', 'it replaces others', 'not steady')
    ),
    born AS (
        SELECT
            a.heap_id,
            w.site_id,
            w.step_count,
            a.size_bytes,
            (a.generation - 2) * 5 / (w.step_count - 2) AS part,
            sum(a.allocation_count) AS part_count
        FROM site AS w
        JOIN z_outstanding_sum AS a ON a.heap_id = w.heap_id
        LEFT JOIN stack AS s ON s.stack_id = a.stack_id
        WHERE coalesce(s.site_frame_id, 0) = w.site_id AND a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0
            AND a.generation > 1 AND a.generation < w.step_count
        GROUP BY a.heap_id, w.site_id, a.size_bytes, part
    ),
    grown AS (
        SELECT
            t.heap_id,
            (t.generation - 2) * 5 / (w.step_count - 2) AS part,
            sum(t.allocated_bytes - t.freed_bytes) AS grown_bytes
        FROM (SELECT DISTINCT heap_id, step_count FROM site) AS w
        JOIN z_step_sum AS t ON t.heap_id = w.heap_id
        WHERE t.generation > 1 AND t.generation < w.step_count
        GROUP BY t.heap_id, part
    )
SELECT
    b.heap_id,
    b.site_id,
    b.size_bytes,
    b.step_count,
    1.0 * b.size_bytes * sum(b.part_count) / (b.step_count - 2) AS growth_bytes
FROM born AS b
LEFT JOIN grown AS g ON g.heap_id = b.heap_id AND g.part = b.part
GROUP BY b.heap_id, b.site_id, b.size_bytes
HAVING count(*) = 5 AND sum(b.part_count) >= 8
    AND min(b.part_count) * 10 >= sum(b.part_count) AND max(b.part_count) * 5 <= 2 * sum(b.part_count)
    AND min(coalesce(g.grown_bytes, 0) >= 0.5 * b.size_bytes * b.part_count) = 1;

-- Of the first step, in which more is made for good, and of the last one, of which some is in use, no more leak than of another.
CREATE TEMP TABLE grown_most AS
SELECT
    a.heap_id,
    coalesce(a.stack_id, 0) AS stack_key,
    a.size_bytes,
    max(a.allocation_count) AS most_count
FROM (SELECT DISTINCT heap_id, size_bytes, step_count FROM temp.grown_size) AS c
JOIN z_outstanding_sum AS a ON a.heap_id = c.heap_id AND a.size_bytes = c.size_bytes
WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0 AND a.generation > 1 AND a.generation < c.step_count
GROUP BY a.heap_id, stack_key, a.size_bytes;

UPDATE z_site_verdict
SET growth_bytes = (
    SELECT sum(c.growth_bytes)
    FROM temp.grown_size AS c
    WHERE c.heap_id = z_site_verdict.heap_id AND c.site_id = coalesce(z_site_verdict.site_frame_id, 0)
)
WHERE (heap_id, coalesce(site_frame_id, 0)) IN (SELECT c.heap_id, c.site_id FROM temp.grown_size AS c);
