-- repeat_counts.sql: of what was copied: how many inputs stay, and whether there are any that have to go.
-- After: repeat_plan.sql
SELECT
    (
        SELECT count(*)
        FROM temp.repeat_input
        WHERE kept_id = id AND number IN (SELECT number FROM temp.repeat_begin)
    ) AS kept_count,
    EXISTS (
        SELECT 1
        FROM temp.repeat_input
        WHERE kept_id <> id AND is_out = 0 AND number IN (SELECT number FROM temp.repeat_begin)
    ) AS has_repeats;
