-- reserve_stacks.sql: what was live when each pool held most, the largest first. Rows as: asked_stacks.sql
SELECT
    a.stack_id AS stack_id,
    sum(a.size_bytes) AS bytes,
    count(*) AS allocation_count,
    'live when the pool held most' AS words,
    n.rank AS rank,
    n.pid AS pid,
    n.device AS device,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    coalesce(n.heap, n.level) AS heap,
    n.heap_id AS heap_id
FROM z_named_moment AS n
JOIN allocation AS a ON a.heap_id = n.heap_id
WHERE n.moment = 'reserve'
    AND n.level IN ('pool', 'workspace')
    AND (:rank IS NULL OR n.rank IS :rank)
    AND (a.alloc_seq IS NOT NULL OR a.stack_id IS NOT NULL)
    AND coalesce(a.alloc_seq, -1) <= n.seq
    AND (a.free_seq IS NULL OR a.free_seq > n.seq)
GROUP BY n.heap_id, a.stack_id
ORDER BY bytes DESC, n.heap_id, a.stack_id;
