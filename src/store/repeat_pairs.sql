-- repeat_pairs.sql: which databases, of those up to one, repeat what others have, and how many of their inputs do.
-- After: repeat_plan.sql
SELECT
    r.number AS number,
    k.number AS kept_number,
    count(*) AS repeated_count,
    (SELECT count(*) FROM temp.repeat_input AS a WHERE a.number = r.number) AS input_count
FROM temp.repeat_input AS r
JOIN temp.repeat_input AS k ON k.id = r.kept_id
WHERE r.kept_id <> r.id AND r.is_out = 0 AND r.number <= :last_number
GROUP BY r.number, k.number
ORDER BY r.number, k.number;
