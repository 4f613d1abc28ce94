-- fleet_steps.sql: how many rows view step_total has of each heap, in its order.
SELECT count(*) AS row_count
FROM z_step_sum AS t
JOIN z_heap_place AS p ON p.heap_id = t.heap_id
GROUP BY t.heap_id
ORDER BY t.heap_id;
