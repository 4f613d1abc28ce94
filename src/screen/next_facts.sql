-- next_facts.sql: what the commands at the end of the screen depend on. fault_command shows more of the worst, where is_fatal
-- says that a request failed for good; pool_count is of findings that another setting of the pool may better; the path is
-- of the only input.
SELECT
    coalesce(max(kind = 'out of memory' AND severity = 'fault'), 0) AS is_fatal,
    (
        SELECT w.next_command
        FROM finding AS w
        WHERE w.severity = 'fault' AND w.kind IN ('out of memory', 'leak', 'misuse') AND w.next_command IS NOT NULL
        ORDER BY CASE w.kind WHEN 'out of memory' THEN 0 WHEN 'leak' THEN 1 ELSE 2 END, w.finding_id
        LIMIT 1
    ) AS fault_command,
    (SELECT count(*) FROM completeness WHERE verdict NOT IN ('complete', 'begun', 'kept', 'contradictory')) AS lost_count,
    coalesce(
        sum(next_command GLOB 'npumem whatif*' OR (kind = 'out of memory' AND verdict IS 'fragmentation'
            AND EXISTS (SELECT 1 FROM input WHERE fragmentation_basis = 'exact'))),
        0
    ) AS pool_count,
    (SELECT path FROM input WHERE path <> '-' AND (SELECT count(*) FROM input) = 1) AS input_path
FROM finding;
