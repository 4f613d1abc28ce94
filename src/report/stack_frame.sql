-- stack_frame.sql: the innermost frame of a stack, and the stack of its caller.
SELECT
    s.parent_id AS parent_id,
    coalesce(f.label, '?' || '?') AS label
FROM stack AS s
LEFT JOIN frame AS f ON f.frame_id = s.frame_id
WHERE s.stack_id = :stack_id;
