-- good_measures.sql: the measures of view health that are good everywhere, each with the worst of its values.
SELECT
    measure,
    CASE measure
        WHEN 'pool hit rate' THEN min(value)
        WHEN 'zero copy' THEN min(value)
        ELSE max(value)
    END AS worst_value
FROM health AS h
WHERE verdict = 'good' AND NOT EXISTS (
    SELECT 1
    FROM health AS o
    WHERE o.measure = h.measure AND o.verdict NOT IN ('good', 'not applicable')
)
GROUP BY measure
ORDER BY CASE measure WHEN 'fragmentation' THEN 0 WHEN 'pool hit rate' THEN 1 WHEN 'allocation cost' THEN 2 ELSE 3 END;
