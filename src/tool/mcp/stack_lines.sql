-- stack_lines.sql: a call stack, its frames from the innermost on.
SELECT
    depth AS frame_count,
    text
FROM stack_text
WHERE stack_id = :stack_id;
