-- sites_of_stacks.sql: the site of each stack that has one.
SELECT
    stack_id,
    site_frame_id
FROM stack
WHERE site_frame_id IS NOT NULL
ORDER BY stack_id;
