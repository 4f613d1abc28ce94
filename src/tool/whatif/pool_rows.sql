-- pool_rows.sql: pools with allocations of which there are no rows, and those of which there is not a row for each; and
-- inputs that may have begun late.
SELECT
    (
        SELECT count(*)
        FROM z_heap_sum
        JOIN heap USING (heap_id)
        WHERE level = 2 AND allocation_count > 0 AND NOT EXISTS (
            SELECT 1
            FROM allocation
            WHERE allocation.heap_id = heap.heap_id AND alloc_seq IS NOT NULL
        )
    ) AS missing_count,
    (
        SELECT count(*)
        FROM z_heap_sum
        JOIN heap USING (heap_id)
        JOIN process USING (process_id)
        JOIN input USING (input_id)
        WHERE level = 2 AND allocation_count > 0 AND detail <> 'all'
    ) AS thinned_count,
    (SELECT count(*) FROM input WHERE baseline = 'unknown') AS late_count;
