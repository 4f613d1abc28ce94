-- against_runs.sql: two runs beside each other, each with its name, and whether figures may be of what is missing.
SELECT
    'A' AS letter,
    :own_name AS name,
    (SELECT count(*) FROM base.process) AS process_count,
    (SELECT count(DISTINCT rank) FROM base.process) AS rank_count,
    (SELECT max(generation) FROM base.step) AS step_count,
    (SELECT sum(is_complete = 0 OR baseline = 'unknown') FROM base.input) AS lossy_count
UNION ALL
SELECT
    'B',
    :other_name,
    (SELECT count(*) FROM process),
    (SELECT count(DISTINCT rank) FROM process),
    (SELECT max(generation) FROM step),
    (SELECT sum(is_complete = 0 OR baseline = 'unknown') FROM input);
