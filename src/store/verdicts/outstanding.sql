-- Sums of rows that are there now, before views are made and before rows are left out (npumem-ingest --detail). Of several
-- inputs each brings its own.

INSERT INTO z_hardware_sample
SELECT
    s.moment_id,
    s.hardware_id,
    count(*),
    sum(s.recorded_bytes)
FROM z_device_sample AS s
WHERE NOT EXISTS (SELECT 1 FROM z_hardware_sample)
GROUP BY s.moment_id, s.hardware_id;

-- Which steps view step_growth shows.
INSERT INTO z_growth_step
SELECT
    step.process_id,
    step.generation
FROM step
WHERE step.process_id IS NOT NULL
    AND step.generation % (
        SELECT x.stride FROM z_step_stride AS x WHERE x.first_generation <= step.generation
        ORDER BY x.first_generation DESC LIMIT 1) = 0
    AND NOT EXISTS (SELECT 1 FROM z_growth_step)
UNION ALL
SELECT
    step.process_id,
    max(step.generation)
FROM step
WHERE step.process_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM z_growth_step)
GROUP BY step.process_id;

-- Verdicts read it in this order.
CREATE INDEX site_step_heap ON z_site_step (heap_id, site_frame_id, generation);

-- What is outstanding (the baseline has no generation), with all that sums by site need: the by-site views never touch
-- the large table.
CREATE INDEX allocation_outstanding
    ON z_allocation (heap_id, stack_id, generation, alloc_seq, size_bytes, is_doubtful, end_kind, free_seq, graph_id,
        private_pool)
    WHERE is_segment = 0 AND generation IS NOT NULL;

-- A reset ends things for good when something is allocated on the device after it; as the last word on a device it is how
-- frameworks exit, and what it ended was live at the end.
UPDATE z_allocation
SET generation = NULL
WHERE is_segment = 0 AND generation IS NOT NULL AND end_kind = 3
    AND free_seq < (
        SELECT max(t.last_alloc_seq)
        FROM heap AS own
        JOIN heap AS h
            ON h.process_id = own.process_id AND (h.heap_id = own.heap_id OR h.device_id = own.device_id)
        JOIN z_heap_sum AS t ON t.heap_id = h.heap_id
        WHERE own.heap_id = z_allocation.heap_id
    );
UPDATE z_heap_sum
SET outstanding_count = outstanding_count + (
        SELECT count(*) FROM z_allocation AS a
        WHERE a.is_segment = 0 AND a.generation IS NOT NULL AND a.end_kind = 3 AND a.heap_id = z_heap_sum.heap_id
    ),
    outstanding_bytes = outstanding_bytes + (
        SELECT coalesce(sum(a.size_bytes), 0) FROM z_allocation AS a
        WHERE a.is_segment = 0 AND a.generation IS NOT NULL AND a.end_kind = 3 AND a.heap_id = z_heap_sum.heap_id
    )
WHERE NOT EXISTS (SELECT 1 FROM z_outstanding_sum);

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

INSERT INTO z_outstanding_sum
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
    sum(e.end_ns - a.alloc_ns > x.p99_at_most_ns),
    g.graph_id,
    a.private_pool IS NOT NULL
FROM z_allocation AS a
LEFT JOIN z_graph AS g ON g.graph_id = a.graph_id AND (g.destroyed_seq IS NULL OR g.destroyed_seq >= a.free_seq)
LEFT JOIN temp.heap_end AS e ON e.heap_id = a.heap_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN z_site_lifetime AS x ON x.heap_id = a.heap_id AND x.site_frame_id IS s.site_frame_id
WHERE a.is_segment = 0 AND a.generation IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM z_outstanding_sum)
GROUP BY a.heap_id, a.stack_id, a.generation, a.size_bytes, a.is_doubtful, g.graph_id,
    a.private_pool IS NOT NULL;
