-- operation_ranges.sql: operations, each with the range round it, and its name where it is a part of a model or a
-- category; none where there is neither.
SELECT
    o.operation_id AS operation_id,
    o.parent_id AS parent_id,
    CASE WHEN k.name = 'module' THEN o.name END AS module,
    CASE WHEN k.name = 'category' THEN o.name END AS category
FROM operation AS o
JOIN operation_kind AS k ON k.kind = o.kind
WHERE EXISTS (
    SELECT 1
    FROM operation AS m
    JOIN operation_kind AS n ON n.kind = m.kind
    WHERE n.name IN ('module', 'category')
)
ORDER BY o.operation_id;
