-- diff_environment.sql: in which versions and settings do two databases differ?
-- Run it beside a database named base.db (or a link of that name):   sqlite3 run.db < queries/diff_environment.sql
-- npumem-diff runs this query.
-- Parameters: :base  the database to compare with (default: base.db in the current folder)
--             :rank  only processes of this rank (default: all)
--             :top   rows to return (default 1000)
-- Columns:    source 'version', 'environment' (variables), 'hccl' (communicators), 'run', 'device' or 'recording'; name of the fact;
--             base_value, run_value text, of several values the first and the last, NULL: it is not there
ATTACH coalesce(:base, 'base.db') AS base;
WITH
    -- begin diff_environment_half run; main
    run_process (process_id, input_id, rank, command, run_mode, world_size) AS (
        SELECT
            process.process_id,
            process.input_id,
            process.rank,
            process.command,
            process.run_mode,
            process.world_size
        FROM main.process
        WHERE :rank IS NULL OR process.rank = :rank
    ),
    run_fact (place, source, name, value) AS (
        SELECT
            CASE e.source WHEN 'version' THEN 1 ELSE 2 END,
            e.source,
            e.name,
            e.value
        FROM main.z_process_environment AS e
        JOIN run_process AS p ON p.process_id = e.process_id
        UNION ALL
        SELECT 3, 'run', 'command', p.command FROM run_process AS p
        UNION ALL
        SELECT 3, 'run', 'run mode', p.run_mode FROM run_process AS p
        UNION ALL
        SELECT 3, 'run', 'world size', CAST(p.world_size AS TEXT) FROM run_process AS p
        UNION ALL
        SELECT 3, 'run', 'ranks', CAST(count(DISTINCT p.rank) AS TEXT) FROM run_process AS p
        UNION ALL
        SELECT
            3,
            'run',
            'steps',
            CAST(max(g.generation) AS TEXT)
        FROM main.step AS g
        JOIN run_process AS p ON p.process_id = g.process_id
        UNION ALL
        SELECT
            4,
            'device',
            'name',
            coalesce(g.name, g.kind)
        FROM main.device AS g
        JOIN run_process AS p ON p.process_id = g.process_id
        UNION ALL
        SELECT
            4,
            'device',
            'capacity in bytes',
            CAST(g.capacity_bytes AS TEXT)
        FROM main.device AS g
        JOIN run_process AS p ON p.process_id = g.process_id
        UNION ALL
        SELECT 5, 'recording', 'kind', input.kind FROM main.input
        WHERE input.input_id IN (SELECT p.input_id FROM run_process AS p)
        UNION ALL
        SELECT
            5,
            'recording',
            'completeness',
            CASE
                WHEN input.is_complete = 0 THEN 'not complete'
                WHEN input.baseline = 'unknown' THEN 'began late'
                ELSE 'complete'
            END
        FROM main.input
        WHERE input.input_id IN (SELECT p.input_id FROM run_process AS p)
        UNION ALL
        SELECT 5, 'recording', 'npumem-ingest', meta.value FROM main.meta WHERE meta.key = 'tool_version'
    ),
    run_value (place, source, name, value) AS (
        SELECT DISTINCT f.place, f.source, f.name, f.value FROM run_fact AS f WHERE f.value IS NOT NULL
    ),
    run_shown (source, name, text) AS (
        SELECT
            v.source,
            v.name,
            CASE count(*)
                WHEN 1 THEN min(v.value)
                WHEN 2 THEN printf('%s, %s', min(v.value), max(v.value))
                ELSE printf('%s to %s, %d values', min(v.value), max(v.value), count(*))
            END
        FROM run_value AS v
        GROUP BY v.source, v.name
    ),
    -- end diff_environment_half
    -- begin diff_environment_half base; base
    base_process (process_id, input_id, rank, command, run_mode, world_size) AS (
        SELECT
            process.process_id,
            process.input_id,
            process.rank,
            process.command,
            process.run_mode,
            process.world_size
        FROM base.process
        WHERE :rank IS NULL OR process.rank = :rank
    ),
    base_fact (place, source, name, value) AS (
        SELECT
            CASE e.source WHEN 'version' THEN 1 ELSE 2 END,
            e.source,
            e.name,
            e.value
        FROM base.z_process_environment AS e
        JOIN base_process AS p ON p.process_id = e.process_id
        UNION ALL
        SELECT 3, 'run', 'command', p.command FROM base_process AS p
        UNION ALL
        SELECT 3, 'run', 'run mode', p.run_mode FROM base_process AS p
        UNION ALL
        SELECT 3, 'run', 'world size', CAST(p.world_size AS TEXT) FROM base_process AS p
        UNION ALL
        SELECT 3, 'run', 'ranks', CAST(count(DISTINCT p.rank) AS TEXT) FROM base_process AS p
        UNION ALL
        SELECT
            3,
            'run',
            'steps',
            CAST(max(g.generation) AS TEXT)
        FROM base.step AS g
        JOIN base_process AS p ON p.process_id = g.process_id
        UNION ALL
        SELECT
            4,
            'device',
            'name',
            coalesce(g.name, g.kind)
        FROM base.device AS g
        JOIN base_process AS p ON p.process_id = g.process_id
        UNION ALL
        SELECT
            4,
            'device',
            'capacity in bytes',
            CAST(g.capacity_bytes AS TEXT)
        FROM base.device AS g
        JOIN base_process AS p ON p.process_id = g.process_id
        UNION ALL
        SELECT 5, 'recording', 'kind', input.kind FROM base.input
        WHERE input.input_id IN (SELECT p.input_id FROM base_process AS p)
        UNION ALL
        SELECT
            5,
            'recording',
            'completeness',
            CASE
                WHEN input.is_complete = 0 THEN 'not complete'
                WHEN input.baseline = 'unknown' THEN 'began late'
                ELSE 'complete'
            END
        FROM base.input
        WHERE input.input_id IN (SELECT p.input_id FROM base_process AS p)
        UNION ALL
        SELECT 5, 'recording', 'npumem-ingest', meta.value FROM base.meta WHERE meta.key = 'tool_version'
    ),
    base_value (place, source, name, value) AS (
        SELECT DISTINCT f.place, f.source, f.name, f.value FROM base_fact AS f WHERE f.value IS NOT NULL
    ),
    base_shown (source, name, text) AS (
        SELECT
            v.source,
            v.name,
            CASE count(*)
                WHEN 1 THEN min(v.value)
                WHEN 2 THEN printf('%s, %s', min(v.value), max(v.value))
                ELSE printf('%s to %s, %d values', min(v.value), max(v.value), count(*))
            END
        FROM base_value AS v
        GROUP BY v.source, v.name
    ),
    -- end diff_environment_half
    changed (place, source, name) AS (
        SELECT place, source, name
        FROM (
            SELECT place, source, name, value FROM run_value
            EXCEPT
            SELECT place, source, name, value FROM base_value
        )
        UNION
        SELECT place, source, name
        FROM (
            SELECT place, source, name, value FROM base_value
            EXCEPT
            SELECT place, source, name, value FROM run_value
        )
    )
SELECT
    c.source AS source,
    c.name AS name,
    b.text AS base_value,
    r.text AS run_value
FROM changed AS c
LEFT JOIN base_shown AS b ON b.source = c.source AND b.name IS c.name
LEFT JOIN run_shown AS r ON r.source = c.source AND r.name IS c.name
ORDER BY c.place, c.name
LIMIT coalesce(:top, 1000);
DETACH base;
