-- diff_heads.sql: what the first line of a comparison says of a database.
SELECT
    CASE WHEN count(*) = 1 THEN min(path) ELSE count(*) || ' inputs' END AS name,
    (SELECT count(*) FROM process) AS process_count,
    (SELECT count(DISTINCT rank) FROM process) AS rank_count,
    (SELECT max(generation) FROM step) AS step_count,
    sum(is_complete = 0 OR baseline = 'unknown') AS partial_count,
    sum(baseline = 'known' AND peak_basis <> 'none') AS midway_count
FROM input;
