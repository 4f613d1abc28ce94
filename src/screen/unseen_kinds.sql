-- unseen_kinds.sql: kinds of notes on what was not seen: the first of each, and how many.
SELECT
    k.kind AS kind_code,
    (SELECT f.text FROM z_unseen AS f WHERE f.kind = u.kind ORDER BY f.first_seq LIMIT 1) AS text,
    sum(u.unseen_count) AS unseen_count
FROM (
    SELECT
        kind,
        text,
        max(unseen_count) AS unseen_count,
        min(first_seq) AS first_seq
    FROM z_unseen
    GROUP BY kind, text
) AS u
JOIN z_note_kind AS k ON k.name = u.kind
GROUP BY u.kind
ORDER BY min(u.first_seq);
