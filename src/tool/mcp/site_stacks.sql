-- site_stacks.sql: the stacks of a site, a part of whose name is :site, by what was ever allocated by them, in processes of a :rank or in
-- all; older_bytes is what lived before the recording.
SELECT
    s.stack_id AS stack_id,
    f.label AS site,
    sum(q.allocated_bytes) AS allocated_bytes,
    sum(q.allocation_count) AS allocation_count,
    sum(q.older_bytes) AS older_bytes
FROM stack AS s
JOIN frame AS f ON f.frame_id = s.site_frame_id
JOIN (
    SELECT heap_id, stack_id, allocated_bytes, allocation_count, 0 AS older_bytes
    FROM z_stack_sum
    UNION ALL
    SELECT heap_id, stack_id, 0, 0, block_bytes
    FROM z_older_blocks
) AS q ON q.stack_id = s.stack_id
WHERE instr(f.label, :site) > 0
    AND (:rank IS NULL OR q.heap_id IN (SELECT p.heap_id FROM z_heap_place AS p WHERE p.rank = :rank))
GROUP BY s.stack_id
ORDER BY sum(q.allocated_bytes) + sum(q.older_bytes) DESC, s.stack_id
LIMIT :most_count;
