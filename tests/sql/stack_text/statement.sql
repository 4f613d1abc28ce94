SELECT
    a.alloc_seq,
    t.depth,
    replace(t.text, char(10), ' < ') AS text
FROM allocation AS a
JOIN stack_text AS t ON t.stack_id = a.stack_id
WHERE a.alloc_seq < 5;
