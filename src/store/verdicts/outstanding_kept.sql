-- outstanding_kept.sql: the same as reset_sum of an input, of rows that are there.
-- After: begin.sql
INSERT INTO temp.reset_sum
SELECT
    a.heap_id,
    count(*),
    sum(a.size_bytes)
FROM z_allocation AS a
WHERE a.is_segment = 0 AND a.generation IS NOT NULL AND a.end_kind = 3
GROUP BY a.heap_id;
