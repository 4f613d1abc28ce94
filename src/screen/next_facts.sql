-- next_facts.sql: what the commands at the end of the screen depend on. pool_count is of findings that another setting
-- of the pool may better; the path is of the only input.
SELECT
    coalesce(sum(kind = 'leak' AND severity = 'fault'), 0) AS leak_count,
    coalesce(sum(kind = 'out of memory' AND severity = 'fault'), 0) AS fatal_count,
    coalesce(sum(kind = 'misuse' AND severity = 'fault'), 0) AS misuse_count,
    (SELECT count(*) FROM completeness WHERE verdict NOT IN ('complete', 'begun', 'kept', 'contradictory')) AS lost_count,
    coalesce(
        sum(next_command GLOB 'npumem whatif*' OR (kind = 'out of memory' AND verdict IS 'fragmentation')),
        0
    ) AS pool_count,
    (SELECT path FROM input WHERE path <> '-' AND (SELECT count(*) FROM input) = 1) AS input_path
FROM finding;
