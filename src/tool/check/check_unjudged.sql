-- check_unjudged.sql: why findings of a :kind are not judged, of the run or of places that a filter chooses; :of_rising: of servers of less than
-- half an hour, :allows_partial: but for what is missing. What stack is cut of is not all.
SELECT f.text AS text
FROM finding AS f
WHERE f.kind = replace(:kind, '_', ' ')
    AND f.severity = 'not judged'
    AND (:rank IS NULL OR f.rank IS NULL OR f.rank = :rank)
    AND (:heap IS NULL OR f.heap IS NULL OR f.heap = :heap OR f.level = :heap)
    AND (:allows_partial = 0 OR f.reason NOT IN ('not all was recorded', 'still recording'))
    AND (:of_rising = 0 OR (
        f.reason IN ('no steps', 'no history', 'not all was recorded', 'still recording')
        AND NOT EXISTS (SELECT 1 FROM z_site_floor WHERE minute >= 30)
    ))
ORDER BY f.finding_id
LIMIT 1;
