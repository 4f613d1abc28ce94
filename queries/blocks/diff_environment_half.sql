$1_process (process_id, input_id, rank, command, run_mode, world_size) AS (
    SELECT
        process.process_id,
        process.input_id,
        process.rank,
        process.command,
        process.run_mode,
        process.world_size
    FROM $2.process
    WHERE :rank IS NULL OR process.rank = :rank
),
$1_fact (place, source, name, value) AS (
    SELECT
        CASE e.source WHEN 'version' THEN 1 ELSE 2 END,
        e.source,
        e.name,
        e.value
    FROM $2.z_process_environment AS e
    JOIN $1_process AS p ON p.process_id = e.process_id
    UNION ALL
    SELECT 3, 'run', 'command', p.command FROM $1_process AS p
    UNION ALL
    SELECT 3, 'run', 'run mode', p.run_mode FROM $1_process AS p
    UNION ALL
    SELECT 3, 'run', 'world size', CAST(p.world_size AS TEXT) FROM $1_process AS p
    UNION ALL
    SELECT 3, 'run', 'ranks', CAST(count(DISTINCT p.rank) AS TEXT) FROM $1_process AS p
    UNION ALL
    SELECT
        3,
        'run',
        'steps',
        CAST(max(g.generation) AS TEXT)
    FROM $2.step AS g
    JOIN $1_process AS p ON p.process_id = g.process_id
    UNION ALL
    SELECT
        4,
        'device',
        'name',
        coalesce(g.name, g.kind)
    FROM $2.device AS g
    JOIN $1_process AS p ON p.process_id = g.process_id
    UNION ALL
    SELECT
        4,
        'device',
        'capacity in bytes',
        CAST(g.capacity_bytes AS TEXT)
    FROM $2.device AS g
    JOIN $1_process AS p ON p.process_id = g.process_id
    UNION ALL
    SELECT 5, 'recording', 'kind', input.kind FROM $2.input
    WHERE input.input_id IN (SELECT p.input_id FROM $1_process AS p)
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
    FROM $2.input
    WHERE input.input_id IN (SELECT p.input_id FROM $1_process AS p)
    UNION ALL
    SELECT 5, 'recording', 'npumem-ingest', meta.value FROM $2.meta WHERE meta.key = 'tool_version'
),
$1_value (place, source, name, value) AS (
    SELECT DISTINCT f.place, f.source, f.name, f.value FROM $1_fact AS f WHERE f.value IS NOT NULL
),
$1_shown (source, name, text) AS (
    SELECT
        v.source,
        v.name,
        CASE count(*)
            WHEN 1 THEN min(v.value)
            WHEN 2 THEN printf('%s, %s', min(v.value), max(v.value))
            ELSE printf('%s to %s, %d values', min(v.value), max(v.value), count(*))
        END
    FROM $1_value AS v
    GROUP BY v.source, v.name
),
