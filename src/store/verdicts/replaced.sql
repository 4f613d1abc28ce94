-- Replacement is no leak: where what a site grows by is matched by blocks of as many bytes that ended in others, the heap does
-- not grow by them. Looked at is what is live at one end of the steps that verdict.c judges by and not at the other. Of several
-- sites that grow each is matched in part; half of the blocks and half of the bytes are to be a site's own. Of others those
-- count of which most ended: where blocks come and go, there may be some more or less. What may be a queue, as far as a short
-- history tells, comes last.
-- After: z_site_verdict, of what grows from step to step, and judged_parts.sql.

-- From the end of which step to the end of which it is judged.
CREATE TEMP TABLE judged_heap AS
SELECT
    h.heap_id,
    x.before,
    x.steps - 1 AS last,
    (SELECT min(t.begin_seq) FROM step AS t WHERE t.process_id = h.process_id AND t.generation > x.before) AS begin_seq,
    (SELECT min(t.begin_seq) FROM step AS t WHERE t.process_id = h.process_id AND t.generation = x.steps) AS end_seq
FROM heap AS h
JOIN temp.judged_part AS x ON x.process_id = h.process_id
WHERE h.heap_id IN (SELECT v.heap_id FROM z_site_verdict AS v WHERE v.verdict = 'growing');

-- Most leaks need no look at all allocations: of the sites of the heap none holds less than before, or too little less to
-- match half of what one grows by. How the baseline becomes less sites do not say.
CREATE TEMP TABLE level_change AS
SELECT
    heap_id,
    site_id,
    1.0 * sum(CASE WHEN is_last THEN live_bytes ELSE 0 END) - sum(CASE WHEN is_before THEN live_bytes ELSE 0 END) AS more_bytes,
    1.0 * sum(CASE WHEN is_last THEN live_count ELSE 0 END) - sum(CASE WHEN is_before THEN live_count ELSE 0 END) AS more_count
FROM (
    SELECT
        z.heap_id,
        coalesce(z.site_frame_id, 0) AS site_id,
        z.live_bytes,
        z.live_count,
        z.generation <= w.before AND coalesce(z.until_generation > w.before, 1) AS is_before,
        z.generation <= w.last AND coalesce(z.until_generation > w.last, 1) AS is_last
    FROM z_site_step AS z
    JOIN temp.judged_heap AS w ON w.heap_id = z.heap_id
)
WHERE is_before OR is_last
GROUP BY heap_id, site_id;
DELETE FROM temp.judged_heap
WHERE (SELECT z.baseline_bytes FROM z_heap_sum AS z WHERE z.heap_id = judged_heap.heap_id) = 0
    AND NOT EXISTS (
        SELECT 1
        FROM z_site_verdict AS v
        JOIN temp.level_change AS g ON g.heap_id = v.heap_id AND g.site_id = coalesce(v.site_frame_id, 0)
        JOIN (
            SELECT
                heap_id,
                -sum(min(more_bytes, 0)) AS less_bytes,
                -sum(min(more_count, 0)) AS less_count
            FROM temp.level_change
            GROUP BY heap_id
        ) AS k ON k.heap_id = v.heap_id
        WHERE v.heap_id = judged_heap.heap_id AND v.verdict = 'growing'
            AND (k.less_bytes >= 0.5 * g.more_bytes OR k.less_count >= 0.5 * g.more_count)
    );

-- A site that is not known is 0.
CREATE TEMP TABLE site_change AS
SELECT
    a.heap_id,
    a.size_bytes,
    coalesce(s.site_frame_id, 0) AS site_id,
    sum(CASE WHEN a.alloc_seq >= w.begin_seq THEN 1 ELSE -1 END) AS more_count,
    count(*) AS change_count
FROM (SELECT begin_seq FROM temp.judged_heap ORDER BY begin_seq LIMIT 1) AS o -- if there is any
CROSS JOIN z_allocation AS a
CROSS JOIN temp.judged_heap AS w ON w.heap_id = a.heap_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
WHERE coalesce(a.free_seq >= o.begin_seq, 1)
    AND a.is_segment = 0
    AND (coalesce(a.alloc_seq, -1) < w.begin_seq AND coalesce(a.free_seq >= w.begin_seq, 1))
        <> (coalesce(a.alloc_seq, -1) < w.end_seq AND coalesce(a.free_seq >= w.end_seq, 1))
GROUP BY a.heap_id, a.size_bytes, site_id;

UPDATE z_site_verdict
SET (verdict, reason, growth_bytes) = (SELECT 'bounded', 'it replaces others', NULL)
WHERE verdict = 'growing' AND (heap_id, coalesce(site_frame_id, 0)) IN (
    SELECT
        c.heap_id,
        c.site_id
    FROM (
        SELECT
            t.heap_id,
            t.site_id,
            t.size_bytes,
            t.more_count,
            t.more_count * max(1.0 - 1.0 * k.ended_count / k.born_count, 0.0) AS own_count
        FROM temp.site_change AS t
        JOIN (
            SELECT
                heap_id,
                size_bytes,
                sum(max(more_count, 0)) AS born_count,
                -sum(CASE WHEN more_count * 2 <= -change_count THEN more_count ELSE 0 END) AS ended_count
            FROM temp.site_change
            GROUP BY heap_id, size_bytes
        ) AS k ON k.heap_id = t.heap_id AND k.size_bytes = t.size_bytes
        WHERE t.more_count > 0
    ) AS c
    GROUP BY c.heap_id, c.site_id
    HAVING sum(c.own_count) < 0.5 * sum(c.more_count)
        OR sum(c.size_bytes * c.own_count) < 0.5 * sum(1.0 * c.size_bytes * c.more_count)
);

-- Where not each allocation has a row (--detail) what ended is not all there by its size: then what the sites of the heap hold less tells.
UPDATE z_site_verdict
SET (verdict, reason, growth_bytes) = (SELECT 'bounded', 'it replaces others', NULL)
WHERE verdict = 'growing' AND heap_id IN (
    SELECT c.heap_id
    FROM (
        SELECT
            heap_id,
            sum(max(more_bytes, 0)) AS more_bytes,
            -sum(min(more_bytes, 0)) AS less_bytes,
            sum(max(more_count, 0)) AS more_count,
            -sum(min(more_count, 0)) AS less_count
        FROM temp.level_change
        GROUP BY heap_id
    ) AS c
    JOIN heap AS h ON h.heap_id = c.heap_id
    JOIN process AS p ON p.process_id = h.process_id
    JOIN input AS i ON i.input_id = p.input_id
    WHERE i.detail <> 'all' AND (2 * c.less_bytes > c.more_bytes OR 2 * c.less_count > c.more_count)
);

-- In a short history that begins in the middle, where older blocks of the sizes that a site keeps are freed behind its first third, it may
-- free its own after as long: a queue, or requests that take their time. Who allocated those nobody knows.
CREATE TEMP TABLE late_heap (
    heap_id INTEGER PRIMARY KEY,
    begin_seq INTEGER
);
INSERT INTO late_heap
SELECT
    w.heap_id,
    (SELECT min(t.begin_seq) FROM step AS t WHERE t.process_id = h.process_id AND t.generation > w.steps / 3)
FROM (SELECT heap_id, last + 1 AS steps FROM temp.judged_heap) AS w
JOIN heap AS h ON h.heap_id = w.heap_id
JOIN process AS p ON p.process_id = h.process_id
JOIN input AS i ON i.input_id = p.input_id
WHERE i.baseline <> 'none' AND w.steps < (SELECT least FROM minimum WHERE judgement = 'warm-up');

-- There an iteration forgets as many blocks each time, and as often; what grows by more and by less, or now in each step and now in none of
-- several, may be requests that a server has at once.
UPDATE z_site_verdict
SET (verdict, reason, growth_bytes) = (SELECT 'not judged', 'not steady', NULL)
WHERE verdict = 'growing' AND heap_id IN (SELECT heap_id FROM temp.late_heap) AND (heap_id, coalesce(site_frame_id, 0)) IN (
    SELECT
        d.heap_id,
        d.site_id
    FROM (
        SELECT
            c.heap_id,
            c.site_id,
            c.more_count,
            c.generation - lag(c.generation) OVER (PARTITION BY c.heap_id, c.site_id ORDER BY c.generation) AS distance
        FROM (
            SELECT
                z.heap_id AS heap_id,
                coalesce(z.site_frame_id, 0) AS site_id,
                z.generation AS generation,
                z.generation BETWEEN 2 AND w.last AS is_judged,
                z.live_count - lag(z.live_count, 1, 0) OVER (PARTITION BY z.heap_id, z.site_frame_id ORDER BY z.generation) AS more_count
            FROM temp.judged_heap AS w
            JOIN z_site_step AS z ON z.heap_id = w.heap_id
            WHERE w.heap_id IN (SELECT heap_id FROM temp.late_heap)
        ) AS c
        WHERE c.is_judged AND c.more_count > 0
    ) AS d
    GROUP BY d.heap_id, d.site_id
    HAVING min(d.more_count) < max(d.more_count) OR max(d.distance) > 2 * min(d.distance)
);

-- Of one size, or half as many of about such sizes as it keeps.
CREATE TEMP TABLE late_freed AS
SELECT
    w.heap_id,
    o.size_bytes,
    count(*) AS freed_count
FROM (SELECT begin_seq FROM temp.late_heap ORDER BY begin_seq LIMIT 1) AS e -- if there is any
CROSS JOIN z_allocation AS o
CROSS JOIN temp.late_heap AS w ON w.heap_id = o.heap_id
WHERE o.free_seq >= e.begin_seq AND o.free_seq >= w.begin_seq AND o.alloc_seq IS NULL AND o.is_segment = 0 AND o.end_kind = 1
GROUP BY w.heap_id, o.size_bytes;

UPDATE z_site_verdict
SET (verdict, reason, growth_bytes) = (SELECT 'not judged', 'older ones are freed', NULL)
WHERE verdict = 'growing' AND heap_id IN (SELECT heap_id FROM temp.late_heap) AND (heap_id, coalesce(site_frame_id, 0)) IN (
    SELECT
        c.heap_id,
        c.site_id
    FROM (
        SELECT
            a.heap_id AS heap_id,
            coalesce(s.site_frame_id, 0) AS site_id,
            sum(a.allocation_count) AS kept_count,
            sum(a.allocation_count * a.size_bytes) AS kept_bytes,
            sum(CASE WHEN f.heap_id IS NOT NULL THEN a.allocation_count * a.size_bytes END) AS matched_bytes,
            min(a.size_bytes) AS least_bytes,
            max(a.size_bytes) AS most_bytes
        FROM z_outstanding_sum AS a
        LEFT JOIN stack AS s ON s.stack_id = a.stack_id
        LEFT JOIN temp.late_freed AS f ON f.heap_id = a.heap_id AND f.size_bytes = a.size_bytes
        WHERE a.heap_id IN (SELECT heap_id FROM temp.late_heap) AND a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0 AND a.generation > 0
        GROUP BY a.heap_id, coalesce(s.site_frame_id, 0)
    ) AS c
    WHERE 2 * c.matched_bytes >= c.kept_bytes
        OR 2 * (
            SELECT sum(k.freed_count)
            FROM temp.late_freed AS k
            WHERE k.heap_id = c.heap_id AND k.size_bytes BETWEEN c.least_bytes / 2 AND c.most_bytes * 2
        ) >= c.kept_count
);

-- What a server forgets it has forgotten before, too: of fewer steps than are many, where nothing is trained, a site that keeps more than half as
-- many as there are older blocks of its sizes may be requests that just came.
CREATE TEMP TABLE served_heap (
    heap_id INTEGER PRIMARY KEY
);
INSERT INTO served_heap
SELECT l.heap_id
FROM temp.late_heap AS l
JOIN temp.judged_heap AS w ON w.heap_id = l.heap_id AND w.before = 1
JOIN heap AS h ON h.heap_id = l.heap_id
JOIN z_step_anchor AS c ON c.process_id = h.process_id AND c.kind = 'site' AND c.is_given = 0 AND c.is_trained = 0;

CREATE TEMP TABLE late_older AS
SELECT
    w.heap_id,
    o.size_bytes,
    count(*) AS older_count
FROM (SELECT 1 FROM temp.served_heap LIMIT 1) AS e -- if there is any
CROSS JOIN z_allocation AS o
CROSS JOIN temp.served_heap AS w ON w.heap_id = o.heap_id
WHERE o.alloc_seq IS NULL AND o.free_seq IS NULL AND o.is_segment = 0
GROUP BY w.heap_id, o.size_bytes;

UPDATE z_site_verdict
SET (verdict, reason, growth_bytes) = (SELECT 'not judged', 'not steady', NULL)
WHERE verdict = 'growing' AND heap_id IN (SELECT heap_id FROM temp.served_heap) AND (heap_id, coalesce(site_frame_id, 0)) IN (
    SELECT
        c.heap_id,
        c.site_id
    FROM (
        SELECT
            a.heap_id AS heap_id,
            coalesce(s.site_frame_id, 0) AS site_id,
            a.size_bytes AS size_bytes,
            sum(a.allocation_count) AS kept_count
        FROM z_outstanding_sum AS a
        LEFT JOIN stack AS s ON s.stack_id = a.stack_id
        WHERE a.heap_id IN (SELECT heap_id FROM temp.served_heap) AND a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0 AND a.generation > 0
        GROUP BY a.heap_id, coalesce(s.site_frame_id, 0), a.size_bytes
    ) AS c
    LEFT JOIN temp.late_older AS k ON k.heap_id = c.heap_id AND k.size_bytes = c.size_bytes
    GROUP BY c.heap_id, c.site_id
    HAVING 2 * sum(c.kept_count) > coalesce(sum(k.older_count), 0)
);

DROP TABLE temp.late_older;
DROP TABLE temp.served_heap;
DROP TABLE temp.late_freed;
DROP TABLE temp.late_heap;
DROP TABLE temp.site_change;
DROP TABLE temp.level_change;
DROP TABLE temp.judged_heap;
