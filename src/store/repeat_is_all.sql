-- repeat_is_all.sql: whether all inputs of a database are repeated by others.
-- After: repeat_plan.sql
SELECT NOT EXISTS (SELECT 1 FROM temp.repeat_input WHERE number = :number AND kept_id = id) AS is_all;
