-- good_findings.sql: what was looked at and is good: leaks, then the measures that are good everywhere, each with the worst of its
-- values, then the rest.
SELECT
    kind,
    sentence,
    max(CASE WHEN kind IN ('pool hit rate', 'zero copy') THEN -value ELSE value END) AS worst_value
FROM finding AS f
WHERE severity = 'good'
    AND NOT EXISTS (SELECT 1 FROM finding AS o WHERE o.kind = f.kind AND o.severity <> 'good')
GROUP BY kind
ORDER BY
    CASE kind
        WHEN 'leak' THEN 0
        WHEN 'fragmentation' THEN 1
        WHEN 'pool hit rate' THEN 2
        WHEN 'allocation cost' THEN 3
        WHEN 'zero copy' THEN 4
        WHEN 'out of memory' THEN 5
        ELSE 6
    END;
