-- repeat_is_kept.sql: whether an input stays.
-- After: repeat_plan.sql
SELECT EXISTS (
    SELECT 1 FROM temp.repeat_input WHERE number = :number AND input_id = :input_id AND kept_id = id
) AS is_kept;
