-- repeat_touched.sql: each database of which something goes now, and whether nothing stays.
-- After: repeat_plan.sql
SELECT
    number,
    NOT EXISTS (SELECT 1 FROM temp.repeat_input AS s WHERE s.number = i.number AND s.kept_id = s.id) AS is_all
FROM temp.repeat_input AS i
WHERE kept_id <> id AND is_out = 0 AND number IN (SELECT number FROM temp.repeat_begin)
GROUP BY number
ORDER BY number;
