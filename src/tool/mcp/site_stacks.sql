-- site_stacks.sql: the stacks of a site, a part of whose name is :site, by what was ever allocated by them.
SELECT
    s.stack_id AS stack_id,
    f.label AS site,
    sum(q.allocated_bytes) AS allocated_bytes,
    sum(q.allocation_count) AS allocation_count
FROM stack AS s
JOIN frame AS f ON f.frame_id = s.site_frame_id
JOIN z_stack_sum AS q ON q.stack_id = s.stack_id
WHERE instr(f.label, :site) > 0
GROUP BY s.stack_id
ORDER BY allocated_bytes DESC, s.stack_id
LIMIT :most_count;
