-- What is a leak, when it is known what each site's verdict is (table z_site_verdict). Of several inputs each brings its own.
-- What a graph holds is none: its release is expected when the graph is destroyed. Nor is what is in a private pool.

-- Stacks of which something grows or rises, sites or sizes: of most runs there are none.
CREATE TEMP TABLE leaking_stack AS
SELECT DISTINCT
    o.heap_id,
    o.stack_id,
    coalesce(s.site_frame_id, 0) AS site_id,
    v.verdict
FROM z_outstanding_birth AS o
LEFT JOIN stack AS s ON s.stack_id = o.stack_id
JOIN z_site_verdict AS v ON v.heap_id = o.heap_id AND v.site_frame_id IS s.site_frame_id
WHERE (v.verdict IN ('growing', 'rising')
        OR (o.heap_id, coalesce(s.site_frame_id, 0)) IN (SELECT c.heap_id, c.site_id FROM temp.grown_size AS c))
    AND NOT EXISTS (SELECT 1 FROM z_leaked_sum);
CREATE INDEX temp.leaking_stack_of ON leaking_stack (heap_id, stack_id);

-- Of what rises neither what was there in the first twentieth of the time is called a leak, nor what was born in the last, and may be
-- in use.
INSERT INTO z_leaked_sum
SELECT
    a.heap_id,
    a.stack_id,
    a.size_bytes,
    a.generation,
    CASE WHEN c.heap_id IS NOT NULL THEN 'growing' ELSE l.verdict END,
    CASE
        WHEN c.heap_id IS NOT NULL AND a.generation IN (1, c.step_count) THEN min(a.allocation_count, m.most_count)
        WHEN l.verdict = 'growing' AND a.generation = 1 THEN min(a.allocation_count, b.most_count)
        ELSE a.allocation_count
    END
FROM z_outstanding_sum AS a
CROSS JOIN temp.leaking_stack AS l ON l.heap_id = a.heap_id AND l.stack_id IS a.stack_id
LEFT JOIN temp.grown_size AS c ON c.heap_id = a.heap_id AND c.site_id = l.site_id AND c.size_bytes = a.size_bytes
LEFT JOIN temp.grown_most AS m
    ON m.heap_id = c.heap_id AND m.stack_key = coalesce(a.stack_id, 0) AND m.size_bytes = a.size_bytes
LEFT JOIN (
    SELECT
        o.heap_id,
        coalesce(o.stack_id, 0) AS stack_key,
        o.size_bytes,
        max(o.allocation_count) AS most_count
    FROM z_outstanding_sum AS o
    CROSS JOIN temp.leaking_stack AS w ON w.heap_id = o.heap_id AND w.stack_id IS o.stack_id
    WHERE o.generation >= 2 AND o.is_doubtful = 0 AND o.graph_id IS NULL AND o.is_private = 0
        AND EXISTS (SELECT 1 FROM temp.leaking_stack)
    GROUP BY o.heap_id, coalesce(o.stack_id, 0), o.size_bytes
) AS b ON b.heap_id = a.heap_id AND b.stack_key = coalesce(a.stack_id, 0) AND b.size_bytes = a.size_bytes
WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0 AND a.generation > 0
    AND CASE
        WHEN c.heap_id IS NOT NULL THEN a.generation NOT IN (1, c.step_count) OR m.most_count > 0
        WHEN l.verdict = 'growing' THEN a.generation > 1 OR b.most_count > 0
        WHEN l.verdict = 'rising' THEN a.generation < 19
    END
    AND EXISTS (SELECT 1 FROM temp.leaking_stack);

-- Heaps that may hold what is unreleased: of processes that ended by themselves, and not with a reset, as frameworks do: what was there
-- then is not forgotten. No program frees what modules of CANN took for themselves.
CREATE TEMP TABLE exit_heap AS
SELECT h.heap_id
FROM heap AS h
JOIN process AS p ON p.process_id = h.process_id
WHERE h.level IN (1, 4, 7) AND coalesce(h.module_id, 33) = 33 AND p.end_kind = 'exit'
    AND p.process_id NOT IN (SELECT k.process_id FROM temp.reset_sum AS r JOIN heap AS k ON k.heap_id = r.heap_id);

-- How others of a stack ended. What was allocated without one is of any place.
CREATE TEMP TABLE freed_of_stack AS
SELECT
    t.heap_id,
    t.stack_id,
    max(t.last_alloc_seq) AS last_alloc_seq,
    sum(t.freed_count) AS freed_count,
    max(CASE WHEN t.bucket >= 0 THEN t.max_ns END) AS max_ns
FROM temp.stack_lifetime AS t
WHERE t.heap_id IN (SELECT x.heap_id FROM temp.exit_heap AS x) AND t.stack_id IS NOT NULL
GROUP BY t.heap_id, t.stack_id;

-- What is unreleased: the process gives back what it holds. Either of what the same stack allocates as much
-- or more was freed, some of it born later, and nothing so old: the newest of a buffer that was replaced again and again is
-- none, nor is what is always kept. Or at its end it freed as much of the heap that was as old, in blocks or in bytes, as there
-- is left. Where the stack is cut it may be of any site.
INSERT INTO z_leaked_sum
SELECT
    a.heap_id,
    a.stack_id,
    a.size_bytes,
    a.generation,
    'unreleased',
    a.allocation_count
FROM (
    SELECT
        o.*,
        o.first_seq < f.last_alloc_seq AND coalesce(e.end_ns - o.first_ns > f.max_ns, 1)
            AND f.freed_count >= sum(CASE WHEN o.first_seq < f.last_alloc_seq THEN o.allocation_count ELSE 0 END)
                OVER (PARTITION BY o.heap_id, o.stack_id) AS is_forgotten
    FROM z_outstanding_sum AS o
    LEFT JOIN temp.freed_of_stack AS f ON f.heap_id = o.heap_id AND f.stack_id = o.stack_id
    LEFT JOIN temp.heap_end AS e ON e.heap_id = o.heap_id
    WHERE o.heap_id IN (SELECT x.heap_id FROM temp.exit_heap AS x)
        AND o.is_doubtful = 0 AND o.graph_id IS NULL AND o.is_private = 0
) AS a
JOIN z_heap_sum AS t ON t.heap_id = a.heap_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN z_site_verdict AS v ON v.heap_id = a.heap_id AND v.site_frame_id IS s.site_frame_id AND v.verdict IN ('growing', 'rising')
WHERE v.heap_id IS NULL AND coalesce(f.is_cut, 0) = 0
    AND (a.is_forgotten = 1 OR (t.released_count > 0
        AND (t.released_count >= t.outstanding_count OR t.released_bytes >= t.outstanding_bytes)))
    AND NOT EXISTS (SELECT 1 FROM z_leaked_sum AS k WHERE k.verdict = 'unreleased');

-- All else of the kind may be meant to last, and so may what a reset ended.
INSERT INTO z_site_verdict
SELECT
    a.heap_id,
    s.site_frame_id,
    'not judged',
    'held to the end',
    NULL,
    NULL
FROM z_outstanding_birth AS a
JOIN heap AS h ON h.heap_id = a.heap_id
JOIN process ON process.process_id = h.process_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0 AND h.level IN (1, 4, 7) AND coalesce(h.module_id, 33) = 33
    AND process.end_kind = 'exit'
    AND NOT EXISTS (
        SELECT 1 FROM z_site_verdict AS v WHERE v.heap_id = a.heap_id AND v.site_frame_id IS s.site_frame_id)
GROUP BY a.heap_id, s.site_frame_id;

-- How many of each had lived longer, at the end of the process (or, where that was not seen, at the last event of its memory), than 99 % of
-- the freed blocks of their site did.
CREATE TEMP TABLE leaked_outlier AS
SELECT
    k.rowid AS leaked_id,
    sum(g.end_ns - b.alloc_ns > g.p99_at_most_ns) AS outlier_count
FROM (
    SELECT DISTINCT
        d.heap_id,
        d.stack_id,
        d.generation,
        e.end_ns,
        x.p99_at_most_ns
    FROM z_leaked_sum AS d
    LEFT JOIN temp.heap_end AS e ON e.heap_id = d.heap_id
    LEFT JOIN stack AS s ON s.stack_id = d.stack_id
    LEFT JOIN z_site_lifetime AS x ON x.heap_id = d.heap_id AND x.site_frame_id IS s.site_frame_id
    WHERE NOT EXISTS (SELECT 1 FROM z_leak_sum)
) AS g
CROSS JOIN z_allocation AS b ON b.heap_id = g.heap_id AND b.stack_id IS g.stack_id AND b.generation = g.generation
CROSS JOIN z_leaked_sum AS k
    ON k.heap_id = b.heap_id AND k.stack_id IS b.stack_id AND k.size_bytes = b.size_bytes AND k.generation = b.generation
LEFT JOIN z_graph AS c ON c.graph_id = b.graph_id AND (c.destroyed_seq IS NULL OR c.destroyed_seq >= b.free_seq)
WHERE b.is_segment = 0 AND b.generation IS NOT NULL
    AND b.is_doubtful = 0 AND c.graph_id IS NULL AND b.private_pool IS NULL
GROUP BY k.rowid;
CREATE INDEX temp.leaked_outlier_of ON leaked_outlier (leaked_id);

INSERT INTO z_leak_sum
SELECT
    k.heap_id,
    s.site_frame_id,
    k.verdict,
    sum(k.leak_count),
    sum(k.leak_count * k.size_bytes),
    count(DISTINCT k.generation),
    min(k.generation),
    max(k.generation),
    min(a.first_seq),
    max(a.last_seq),
    min(a.first_ns),
    max(e.end_ns),
    sum(min(o.outlier_count, k.leak_count))
FROM z_leaked_sum AS k
JOIN z_outstanding_sum AS a
    ON a.heap_id = k.heap_id
    AND a.stack_id IS k.stack_id
    AND a.size_bytes = k.size_bytes
    AND a.generation = k.generation
    AND a.is_doubtful = 0
    AND a.graph_id IS NULL
    AND a.is_private = 0
LEFT JOIN temp.leaked_outlier AS o ON o.leaked_id = k.rowid
LEFT JOIN temp.heap_end AS e ON e.heap_id = k.heap_id
LEFT JOIN stack AS s ON s.stack_id = k.stack_id
WHERE NOT EXISTS (SELECT 1 FROM z_leak_sum)
GROUP BY k.heap_id, s.site_frame_id, k.verdict;

DROP TABLE temp.grown_most;
DROP TABLE temp.grown_size;
DROP TABLE temp.freed_of_stack;
DROP TABLE temp.leaked_outlier;
DROP TABLE temp.leaking_stack;
DROP TABLE temp.exit_heap;
DROP TABLE temp.heap_end;
