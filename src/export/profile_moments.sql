-- profile_moments.sql: moments of which there are profiles: the peak, the end, and the first marks.
SELECT 'peak' AS moment, -2 AS number
UNION ALL
SELECT 'end', -1
UNION ALL
SELECT name, number
FROM (
    SELECT name, min(moment_id) AS number
    FROM moment
    WHERE kind = 3 AND name NOT IN ('', 'peak', 'end', 'begin')
    GROUP BY name
    ORDER BY min(moment_id)
)
ORDER BY 2
LIMIT :most_count;
