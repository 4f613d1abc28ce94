-- judged_parts.sql: from the end of which step on what verdict.c judges by is looked at, by its parts.
-- After: judged_steps.sql
INSERT INTO judged_part
SELECT
    process_id,
    max(generation),
    CASE WHEN max(generation) < :many_count THEN 1 ELSE max(generation) - 1 - CAST(:late_ratio * (max(generation) - 1) + 0.5 AS INTEGER) END
FROM step
WHERE process_id IS NOT NULL
GROUP BY process_id;
