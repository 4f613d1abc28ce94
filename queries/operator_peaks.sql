-- operator_peaks.sql: which operators let a heap rise most above where they began, in which step, and does that change?
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; heap name; operation name; kind operator, range, ...; peak_over_start_bytes most that the heap
--             rose above what was live when a run began, bytes; step number of the step in which that was, NULL before the
--             first; first_step, first_bytes first step in which it was measured and its highest rise there, bytes;
--             last_step, last_bytes the same of the last; step_count steps in which it was measured (of each heap and step
--             of each step those of the 16 operations with the most bytes)
WITH
    measured (process_id, heap_id, kind, name, generation, number, bytes) AS (
        SELECT
            s.process_id,
            s.heap_id,
            s.kind,
            s.name,
            s.generation,
            s.number,
            s.max_rise_bytes
        FROM z_operation_step_sum AS s
        WHERE s.kind IS NOT NULL AND s.max_rise_bytes IS NOT NULL
    ),
    extent (process_id, heap_id, kind, name, bytes, first_generation, last_generation, step_count) AS (
        SELECT
            m.process_id,
            m.heap_id,
            m.kind,
            m.name,
            max(m.bytes),
            min(m.generation),
            max(m.generation),
            count(*)
        FROM measured AS m
        GROUP BY m.process_id, m.heap_id, m.kind, m.name
    )
SELECT
    p.pid AS pid,
    p.heap AS heap,
    e.name AS operation,
    k.name AS kind,
    e.bytes AS peak_over_start_bytes,
    min(CASE WHEN m.bytes = e.bytes THEN m.number END) AS step,
    max(CASE WHEN m.generation = e.first_generation THEN m.number END) AS first_step,
    max(CASE WHEN m.generation = e.first_generation THEN m.bytes END) AS first_bytes,
    max(CASE WHEN m.generation = e.last_generation THEN m.number END) AS last_step,
    max(CASE WHEN m.generation = e.last_generation THEN m.bytes END) AS last_bytes,
    e.step_count AS step_count
FROM extent AS e
JOIN measured AS m
    ON m.process_id = e.process_id AND m.heap_id = e.heap_id AND m.kind = e.kind AND m.name IS e.name
JOIN z_heap_place AS p ON p.heap_id = e.heap_id
JOIN operation_kind AS k ON k.kind = e.kind
WHERE e.bytes > 0
GROUP BY e.process_id, e.heap_id, e.kind, e.name
ORDER BY e.bytes DESC, e.process_id, e.heap_id, e.kind, e.name
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
