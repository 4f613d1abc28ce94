-- failed_stacks.sql: the requests that failed, in their order, then what was held before the first of them.
-- Rows as: asked_stacks.sql
SELECT
    stack_id,
    bytes,
    allocation_count,
    words,
    host,
    rank,
    pid,
    device,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    coalesce(heap, level) AS heap,
    heap AS heap_name,
    level,
    what,
    NULL AS verdict,
    out_of_memory_id,
    heap_id,
    source
FROM (
    SELECT
        q.stack_id AS stack_id,
        coalesce(q.tried_bytes, q.at_least_tried_bytes) AS bytes,
        NULL AS allocation_count,
        'asked for: out of memory, ' || q.outcome AS words,
        p.host AS host,
        p.rank AS rank,
        p.pid AS pid,
        p.device AS device,
        p.heap AS heap,
        p.level AS level,
        NULL AS what,
        q.out_of_memory_chain_id AS out_of_memory_id,
        p.heap_id AS heap_id,
        CASE WHEN q.tried_bytes IS NULL THEN 'at_least_tried_bytes' ELSE 'tried_bytes' END AS source,
        0 AS part,
        q.out_of_memory_chain_id AS place
    FROM z_out_of_memory_chain AS q
    LEFT JOIN z_heap_place AS p ON p.heap_id = q.heap_id
    WHERE :rank IS NULL OR p.rank IS :rank
    UNION ALL
    SELECT
        s.stack_id,
        s.bytes,
        s.allocation_count,
        s.what,
        s.host,
        s.rank,
        s.pid,
        s.device,
        s.heap,
        s.level,
        s.what,
        s.out_of_memory_id,
        s.heap_id,
        NULL,
        1,
        -s.bytes
    FROM stack_sum AS s
    WHERE s.what = 'held when it failed'
        AND (:rank IS NULL OR s.rank IS :rank)
        AND s.out_of_memory_id = (
            SELECT min(c.out_of_memory_chain_id)
            FROM z_out_of_memory_chain AS c
            LEFT JOIN z_heap_place AS h ON h.heap_id = c.heap_id
            WHERE :rank IS NULL OR h.rank IS :rank
        )
)
ORDER BY part, place, stack_id;
