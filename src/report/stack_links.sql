-- stack_links.sql: all stacks, in the order of their numbers: each its innermost frame, its caller and its site.
SELECT
    stack_id,
    parent_id,
    frame_id,
    site_frame_id,
    is_cut
FROM stack
ORDER BY stack_id;
