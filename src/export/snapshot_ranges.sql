-- snapshot_ranges.sql: the begins and ends of operations, of steps that the program marked, and of marks, as ranges on
-- the first device of their process. A reader takes an end for that of the latest range of its name: of equal
-- microseconds, ends come first, but for those of what has no length in them.
-- With: snapshot_devices.part.sql
WITH
    first (process_id, number) AS (SELECT process_id, min(number) FROM dev GROUP BY process_id),
    range (process_id, name, begin_ns, end_ns, id) AS (
        SELECT process_id, coalesce(name, '?' || '?'), begin_ns, end_ns, operation_id
        FROM operation
        UNION ALL
        SELECT process_id, 'ProfilerStep#' || number, begin_ns, end_ns, -step_id
        FROM step
        WHERE source = 'marked'
        UNION ALL
        SELECT coalesce(process_id, (SELECT min(process_id) FROM first)), name, ns, ns, moment_id
        FROM moment
        WHERE kind = 3 AND name <> 'snapshot'
    ),
    placed (number, name, begin_ns, end_ns, id) AS (
        SELECT
            f.number,
            r.name,
            coalesce(i.start_realtime_ns, 0) + r.begin_ns,
            coalesce(i.start_realtime_ns, 0) + r.end_ns,
            r.id
        FROM range AS r
        JOIN first AS f ON f.process_id = r.process_id
        JOIN process AS p ON p.process_id = r.process_id
        JOIN input AS i ON i.input_id = p.input_id
        WHERE r.begin_ns IS NOT NULL AND r.name IS NOT NULL
    ),
    half (number, name, ns, is_end, begin_ns, end_ns, id) AS (
        SELECT number, name, begin_ns, 0, begin_ns, end_ns, id
        FROM placed
        UNION ALL
        SELECT number, name, end_ns, 1, begin_ns, end_ns, id
        FROM placed
        WHERE begin_ns <= end_ns
    )
SELECT
    number AS device,
    name,
    ns / 1000 AS time_us,
    is_end
FROM half
ORDER BY
    ns / 1000,
    CASE WHEN begin_ns / 1000 = end_ns / 1000 THEN 2 ELSE 1 - is_end END,
    begin_ns,
    id,
    is_end;
