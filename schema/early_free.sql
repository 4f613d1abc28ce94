-- Pools whose blocks are given up before the streams are done with them.

CREATE VIEW z_early_free (
    -- Pools that tell a free when it is asked for, and not when the memory can be used again: those told through mstx.
    -- While another stream may still use a block (torch's record_stream), what is pending is not known, and what is free is
    -- so at most. A pool waits for another stream by an event: where the process recorded none, nothing was pending, and
    -- the pool is not in this view. Whose an event is cannot be told: a task queue records the pool's from its own thread.
    --
    -- begin place
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device. NULL: host memory.
    device,
    -- Name of the heap.
    heap,
    -- Level of the heap.
    level,
    -- end place
    -- Most that was free in the pool's segments at once: no more than this was pending. Unit: bytes. NULL: that is not
    -- known either.
    max_pending_bound_bytes,
    -- 1: each miss whose cause is 'cold' was the first of its stream, private pool and class, for which nothing can have
    -- been pending; 0: not each.
    is_cold_known,
    -- Number of the heap.
    heap_id
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    (
        SELECT CASE WHEN max(u.is_doubtful OR u.is_partial) = 0 THEN max(u.max_free_bytes) END
        FROM z_fragmentation_usage AS u
        WHERE u.heap_id = s.heap_id AND u.part_id IS NULL AND s.is_partial = 0
    ),
    coalesce((SELECT sum(m.miss_count) FROM z_pool_miss_sum AS m WHERE m.heap_id = s.heap_id AND m.cause = 1), 0)
        <= (SELECT count(*) FROM z_pool_group AS g WHERE g.heap_id = s.heap_id AND g.miss_count > 0),
    s.heap_id
FROM z_pool_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
WHERE p.heap IN ('ptaCaching', 'msleaks', 'atb', 'mindsporeMemPool') AND s.pending_count = 0
    AND (s.is_partial = 1 OR EXISTS (
        SELECT 1
        FROM z_stream_call_sum AS c
        WHERE c.process_id = p.process_id AND c.kind IN (8, 13) AND c.call_count > c.error_count
    ))
ORDER BY s.heap_id;
