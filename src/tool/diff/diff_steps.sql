-- diff_steps.sql: whether there is a step of a number that begins at a known event, and the numbers of all.
SELECT
    EXISTS (SELECT 1 FROM step WHERE number = :step_number AND begin_seq IS NOT NULL) AS has_step,
    (SELECT min(number) || ' to ' || max(number) FROM step) AS numbers;
