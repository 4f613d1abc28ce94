-- Sums of rows that are there now, before views are made and before rows are left out (npumem-ingest --detail). Of several
-- inputs each brings its own.

-- What is outstanding (the baseline has no generation), with all that sums by site need: the by-site views never touch
-- the large table.
CREATE INDEX allocation_outstanding
    ON allocation (heap_id, stack_id, generation, alloc_seq, size_bytes, is_doubtful)
    WHERE end_kind = 0 AND is_segment = 0 AND generation IS NOT NULL;

-- When the process of each heap ended, or where that was not seen, the last event of its memory.
CREATE TEMP TABLE heap_end AS
SELECT
    h.heap_id,
    coalesce(r.end_ns, w.end_ns) AS end_ns
FROM heap AS h
JOIN process AS r ON r.process_id = h.process_id
LEFT JOIN (
    SELECT
        i.process_id,
        max(u.last_ns) AS end_ns
    FROM usage AS u
    JOIN heap AS i ON i.heap_id = u.heap_id
    GROUP BY i.process_id
) AS w ON w.process_id = r.process_id;

INSERT INTO outstanding_sum
SELECT
    a.heap_id,
    a.stack_id,
    a.size_bytes,
    a.generation,
    a.is_doubtful,
    count(*),
    min(a.alloc_seq),
    max(a.alloc_seq),
    min(a.alloc_ns),
    sum(e.end_ns - a.alloc_ns > x.p99_at_most_ns)
FROM allocation AS a
LEFT JOIN temp.heap_end AS e ON e.heap_id = a.heap_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN site_lifetime AS x ON x.heap_id = a.heap_id AND x.site_frame_id IS s.site_frame_id
WHERE a.end_kind = 0 AND a.is_segment = 0 AND a.generation IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM outstanding_sum)
GROUP BY a.heap_id, a.stack_id, a.generation, a.size_bytes, a.is_doubtful;

-- Which sites grow; see view growing_site.
INSERT INTO growing_sum
SELECT
    g.heap_id,
    g.site_frame_id,
    g.size_key,
    g.allocation_count,
    g.generation_count
FROM (
    SELECT
        a.heap_id,
        s.site_frame_id,
        CASE WHEN f.is_plumbing = 0 THEN -1 ELSE a.size_bytes END AS size_key,
        sum(a.allocation_count) AS allocation_count,
        count(DISTINCT a.generation) AS generation_count,
        min(a.generation) AS first_generation,
        max(a.generation) AS last_generation,
        max(a.last_seq) AS last_seq
    FROM outstanding_sum AS a
    LEFT JOIN stack AS s ON s.stack_id = a.stack_id
    LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
    WHERE a.is_doubtful = 0 AND NOT EXISTS (SELECT 1 FROM growing_sum)
    GROUP BY a.heap_id, s.site_frame_id, CASE WHEN f.is_plumbing = 0 THEN -1 ELSE a.size_bytes END
) AS g
JOIN heap AS h ON h.heap_id = g.heap_id
JOIN process ON process.process_id = h.process_id
JOIN input ON input.input_id = process.input_id
LEFT JOIN (
    SELECT
        step.process_id,
        max(step.generation) AS step_count
    FROM step
    GROUP BY step.process_id
) AS steps ON steps.process_id = h.process_id
WHERE g.generation_count - (steps.step_count IS NOT NULL AND g.first_generation = 0) >= 3
    AND CASE
        WHEN steps.step_count IS NOT NULL THEN 2 * g.last_generation > steps.step_count
        WHEN g.last_seq IS NULL THEN g.last_generation >= 10
        -- A snapshot has the trace of one device behind that of another.
        WHEN input.order_kind = 'file'
            AND (SELECT count(*) FROM device AS d WHERE d.process_id = h.process_id) > 1 THEN g.last_generation >= 10
        WHEN input.detail_begin_seq IS NOT NULL THEN 2 * g.last_seq >= input.last_seq
        ELSE 2 * g.last_seq >= input.first_seq + input.last_seq
    END;

-- What is a leak; see view leak.
INSERT INTO leak_sum
SELECT
    a.heap_id,
    s.site_frame_id,
    CASE WHEN g.heap_id IS NOT NULL THEN 'growing' ELSE 'unreleased' END,
    sum(a.allocation_count),
    sum(a.allocation_count * a.size_bytes),
    count(DISTINCT a.generation),
    min(a.generation),
    max(a.generation),
    min(a.first_seq),
    max(a.last_seq),
    min(a.first_ns),
    max(e.end_ns),
    sum(a.outlier_count)
FROM outstanding_sum AS a
JOIN heap AS h ON h.heap_id = a.heap_id
LEFT JOIN process ON process.process_id = h.process_id
LEFT JOIN temp.heap_end AS e ON e.heap_id = a.heap_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN growing_sum AS g
    ON g.heap_id = a.heap_id
    AND g.site_frame_id IS s.site_frame_id
    AND g.size_key = CASE WHEN f.is_plumbing = 0 THEN -1 ELSE a.size_bytes END
WHERE a.is_doubtful = 0
    AND (g.heap_id IS NOT NULL
        OR (h.level IN (1, 4, 7) AND coalesce(h.module_id, 33) = 33 AND process.end_kind = 'exit'))
    AND NOT EXISTS (SELECT 1 FROM leak_sum)
GROUP BY a.heap_id, s.site_frame_id, CASE WHEN g.heap_id IS NOT NULL THEN 'growing' ELSE 'unreleased' END;

DROP TABLE temp.heap_end;
