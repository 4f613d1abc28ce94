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
