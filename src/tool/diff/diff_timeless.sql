-- diff_timeless.sql: whether there are events without a time.
SELECT EXISTS (
    SELECT 1
    FROM allocation
    WHERE (alloc_seq IS NOT NULL AND alloc_ns IS NULL) OR (free_seq IS NOT NULL AND free_ns IS NULL)
) AS is_timeless;
