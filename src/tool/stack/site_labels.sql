-- site_labels.sql: the name of a stack's site.
SELECT x.label AS label
FROM stack AS s
JOIN frame AS x ON x.frame_id = s.site_frame_id AND x.is_cut = 0
WHERE s.stack_id = :stack_id;
