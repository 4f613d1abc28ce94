-- profile_stacks.sql: what was live at a moment, by heap and stack, and when that was.
-- With: live.part.sql
SELECT
    live.heap_id AS heap_id,
    live.stack_id AS stack_id,
    live.is_baseline AS is_baseline,
    sum(live.live_count) AS live_count,
    sum(live.live_bytes) AS live_bytes,
    coalesce(
        (
            SELECT max(coalesce(n.ns, n.seq * 1000, 0), 0)
            FROM z_named_moment AS n
            WHERE n.heap_id = live.heap_id AND n.moment = :moment
        ),
        0
    ) AS ns
FROM live
GROUP BY live.heap_id, live.stack_id, live.is_baseline
ORDER BY 1, 2, 3;
