-- diff_choices.sql: whether there is what the options choose, and the first marks that there are.
SELECT
    EXISTS (SELECT 1 FROM process WHERE :rank IS NULL OR rank = :rank) AS has_rank,
    EXISTS (SELECT 1 FROM heap_level WHERE :level IS NULL OR name = :level) AS has_level,
    EXISTS (SELECT 1 FROM input WHERE :mark IS NULL OR detail <> 'none') AS has_rows,
    EXISTS (SELECT 1 FROM moment WHERE :mark IS NULL OR (kind = 3 AND name = :mark)) AS has_mark,
    (
        SELECT group_concat(name, ', ')
        FROM (SELECT DISTINCT name FROM moment WHERE kind = 3 LIMIT 8)
    ) AS mark_names;
