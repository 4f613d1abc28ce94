-- input_paths.sql: the paths of the first inputs.
SELECT path
FROM input
ORDER BY input_id
LIMIT :most_count;
