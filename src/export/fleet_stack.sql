-- fleet_stack.sql: a stack as text.
SELECT s.text
FROM stack_text AS s
WHERE s.stack_id = :stack_id;
