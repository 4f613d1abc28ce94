-- moment_names.sql: whether a text names a moment, or a mark, and the first marks that one could name.
SELECT
    EXISTS (SELECT 1 FROM z_named_moment WHERE moment = :moment) AS is_named,
    EXISTS (SELECT 1 FROM moment WHERE kind = 3 AND name = :moment) AS is_mark,
    (
        SELECT group_concat(name, ', ')
        FROM (SELECT DISTINCT name FROM moment WHERE kind = 3 LIMIT 8)
    ) AS mark_names;
