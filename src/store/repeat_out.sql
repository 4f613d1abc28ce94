-- repeat_out.sql: nothing of a database has to go any more.
-- After: repeat_plan.sql
UPDATE temp.repeat_input
SET is_out = 1
WHERE number = :number;
