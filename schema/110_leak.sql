-- What is a leak, when it is known what each site's verdict is (table site_verdict). Of several inputs each brings its own.
-- What a graph holds is none: its release is expected when the graph is destroyed.

-- Processes that ended with a reset, as frameworks do: what was there then is not forgotten.
CREATE TEMP TABLE reset_process AS
SELECT DISTINCT h.process_id
FROM allocation AS a
JOIN heap AS h ON h.heap_id = a.heap_id
WHERE a.is_segment = 0 AND a.generation IS NOT NULL AND a.end_kind = 3;

-- What grows or rises. Of what rises neither what was there in the first twentieth of the time is called a leak, nor what was
-- born in the last, and may be in use.
INSERT INTO leaked_sum
SELECT
    a.heap_id,
    a.stack_id,
    a.size_bytes,
    a.generation,
    v.verdict,
    CASE
        WHEN v.verdict = 'growing' AND a.generation = 1 THEN min(a.allocation_count, b.most_count)
        ELSE a.allocation_count
    END
FROM outstanding_sum AS a
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
JOIN site_verdict AS v ON v.heap_id = a.heap_id AND v.site_frame_id IS s.site_frame_id AND v.verdict IN ('growing', 'rising')
LEFT JOIN (
    SELECT
        o.heap_id,
        coalesce(o.stack_id, 0) AS stack_key,
        o.size_bytes,
        max(o.allocation_count) AS most_count
    FROM outstanding_sum AS o
    WHERE o.generation >= 2 AND o.is_doubtful = 0 AND o.graph_id IS NULL
    GROUP BY o.heap_id, coalesce(o.stack_id, 0), o.size_bytes
) AS b ON b.heap_id = a.heap_id AND b.stack_key = coalesce(a.stack_id, 0) AND b.size_bytes = a.size_bytes
WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND a.generation > 0
    AND CASE v.verdict WHEN 'growing' THEN a.generation > 1 OR b.most_count > 0 ELSE a.generation < 19 END
    AND NOT EXISTS (SELECT 1 FROM leaked_sum);

-- What is unreleased: the process ended by itself, and had freed other memory of the kind. No program frees what modules of
-- CANN took for themselves. Where the stack is cut it may be of any site.
INSERT INTO leaked_sum
SELECT
    a.heap_id,
    a.stack_id,
    a.size_bytes,
    a.generation,
    'unreleased',
    a.allocation_count
FROM outstanding_sum AS a
JOIN heap AS h ON h.heap_id = a.heap_id
JOIN process ON process.process_id = h.process_id
JOIN heap_sum AS t ON t.heap_id = a.heap_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN site_verdict AS v ON v.heap_id = a.heap_id AND v.site_frame_id IS s.site_frame_id AND v.verdict IN ('growing', 'rising')
WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND v.heap_id IS NULL AND coalesce(f.is_cut, 0) = 0 AND h.level IN (1, 4, 7)
    AND coalesce(h.module_id, 33) = 33
    AND process.end_kind = 'exit' AND t.free_count > 0
    AND process.process_id NOT IN (SELECT r.process_id FROM temp.reset_process AS r)
    AND NOT EXISTS (SELECT 1 FROM leaked_sum AS k WHERE k.verdict = 'unreleased');

-- Memory of a kind of which nothing was ever freed may be meant to last, and so may what a reset ended.
INSERT INTO site_verdict
SELECT
    a.heap_id,
    s.site_frame_id,
    'not judged',
    'held to the end',
    NULL,
    NULL
FROM outstanding_sum AS a
JOIN heap AS h ON h.heap_id = a.heap_id
JOIN process ON process.process_id = h.process_id
JOIN heap_sum AS t ON t.heap_id = a.heap_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND h.level IN (1, 4, 7) AND coalesce(h.module_id, 33) = 33 AND process.end_kind = 'exit'
    AND (t.free_count = 0 OR process.process_id IN (SELECT r.process_id FROM temp.reset_process AS r))
    AND NOT EXISTS (
        SELECT 1 FROM site_verdict AS v WHERE v.heap_id = a.heap_id AND v.site_frame_id IS s.site_frame_id)
GROUP BY a.heap_id, s.site_frame_id;

INSERT INTO leak_sum
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
    sum(min(a.outlier_count, k.leak_count))
FROM leaked_sum AS k
JOIN outstanding_sum AS a
    ON a.heap_id = k.heap_id
    AND a.stack_id IS k.stack_id
    AND a.size_bytes = k.size_bytes
    AND a.generation = k.generation
    AND a.is_doubtful = 0
    AND a.graph_id IS NULL
LEFT JOIN temp.heap_end AS e ON e.heap_id = k.heap_id
LEFT JOIN stack AS s ON s.stack_id = k.stack_id
WHERE NOT EXISTS (SELECT 1 FROM leak_sum)
GROUP BY k.heap_id, s.site_frame_id, k.verdict;

DROP TABLE temp.reset_process;
DROP TABLE temp.heap_end;
