-- shown_frames.sql: the innermost frame of a stack, its caller, and whether it is the site of stack :of_id. Frames with
-- the same function, file and line are one site.
SELECT
    s.parent_id AS parent_id,
    f.label AS label,
    f.is_plumbing = 1 AS is_plumbing,
    x.frame_id IS NOT NULL
        AND f.function IS x.function
        AND f.file IS x.file
        AND f.line IS x.line
        AND f.label IS x.label AS is_site,
    s.is_cut = 1 AS is_cut
FROM stack AS s
LEFT JOIN frame AS f ON f.frame_id = s.frame_id
LEFT JOIN frame AS x ON x.frame_id = (SELECT site_frame_id FROM stack WHERE stack_id = :of_id)
WHERE s.stack_id = :stack_id;
