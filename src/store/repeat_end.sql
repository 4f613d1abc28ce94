-- repeat_end.sql: what had to go has gone; and so does what is said of the whole of nothing.
-- After: repeat_plan.sql
UPDATE temp.repeat_input
SET is_out = 1
WHERE kept_id <> id AND number IN (SELECT number FROM temp.repeat_begin);
DELETE FROM repeat_gone;
DELETE FROM main.meta
WHERE key = 'redacted' AND NOT EXISTS (SELECT 1 FROM main.input);
