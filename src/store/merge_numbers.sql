-- merge_numbers.sql: the columns of a table that number rows, and of which table.
-- After: merge_plan.sql
SELECT
    name,
    target
FROM merge_column
WHERE owner = :owner AND target IS NOT NULL
ORDER BY place;
