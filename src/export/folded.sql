-- folded.sql: what was live at a moment, by heap and stack.
-- With: live_places.part.sql
-- With: live.part.sql
SELECT
    place.text AS heap,
    live.stack_id AS stack_id,
    live.is_baseline AS is_baseline,
    sum(live.live_bytes) AS live_bytes
FROM live
JOIN place ON place.heap_id = live.heap_id
GROUP BY live.heap_id, live.stack_id, live.is_baseline
HAVING sum(live.live_bytes) > 0
ORDER BY live.heap_id, live.stack_id, live.is_baseline;
