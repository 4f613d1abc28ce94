-- outstanding_resets.sql: what was live when a last reset ended it was live at the end.
-- After: begin.sql
UPDATE z_heap_sum
SET (outstanding_count, outstanding_bytes) = (
    SELECT z_heap_sum.outstanding_count + r.block_count, z_heap_sum.outstanding_bytes + r.block_bytes
    FROM temp.reset_sum AS r
    WHERE r.heap_id = z_heap_sum.heap_id
)
WHERE heap_id IN (SELECT r.heap_id FROM temp.reset_sum AS r);
