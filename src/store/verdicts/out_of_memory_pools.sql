-- Who asked for what the driver refused, and what the others kept.
--
-- A request is a pool's where the pool has asked there before: its driver memory came from the same innermost frame, from which
-- no other did, or from the same two.
CREATE TEMP TABLE asked_by AS
WITH
    place (heap_id, device_id, process_id, frame_id, caller_id) AS (
        SELECT DISTINCT
            g.heap_id,
            h.device_id,
            h.process_id,
            s.frame_id,
            p.frame_id
        FROM temp.segment_stack AS g
        JOIN heap AS h ON h.heap_id = g.heap_id
        JOIN stack AS s ON s.stack_id = g.stack_id
        LEFT JOIN stack AS p ON p.stack_id = s.parent_id
    ),
    chain (out_of_memory_chain_id, process_id, device_id, stack_id, frame_id, caller_id) AS (
        SELECT
            c.out_of_memory_chain_id,
            c.process_id,
            c.device_id,
            c.stack_id,
            s.frame_id,
            p.frame_id
        FROM z_out_of_memory_chain AS c
        JOIN stack AS s ON s.stack_id = c.stack_id
        LEFT JOIN stack AS p ON p.stack_id = s.parent_id
        WHERE c.pool_heap_id IS NULL AND c.at_least_tried_bytes IS NOT NULL
    )
SELECT
    c.out_of_memory_chain_id,
    min(p.heap_id) AS heap_id
FROM chain AS c
JOIN place AS p ON p.process_id = c.process_id AND p.device_id = c.device_id AND p.frame_id = c.frame_id
WHERE p.caller_id = c.caller_id
    OR NOT EXISTS (
        -- What the request itself had got before it failed came from its own stack.
        SELECT 1
        FROM z_out_of_memory_stack AS o
        JOIN heap AS h ON h.heap_id = o.heap_id AND h.level <> 2
        JOIN stack AS s ON s.stack_id = o.stack_id
        WHERE o.out_of_memory_chain_id = c.out_of_memory_chain_id AND s.frame_id = c.frame_id AND o.stack_id <> c.stack_id
    )
GROUP BY c.out_of_memory_chain_id
HAVING count(DISTINCT p.heap_id) = 1;

UPDATE z_out_of_memory_chain
SET pool_heap_id = (
        SELECT a.heap_id
        FROM temp.asked_by AS a
        WHERE a.out_of_memory_chain_id = z_out_of_memory_chain.out_of_memory_chain_id
    ),
    has_segments = 1,
    pool_live_count = (
        SELECT coalesce(sum(o.live_count), 0)
        FROM z_out_of_memory_stack AS o
        JOIN temp.asked_by AS a ON a.heap_id = o.heap_id AND a.out_of_memory_chain_id = o.out_of_memory_chain_id
        WHERE o.out_of_memory_chain_id = z_out_of_memory_chain.out_of_memory_chain_id
    )
WHERE out_of_memory_chain_id IN (SELECT a.out_of_memory_chain_id FROM temp.asked_by AS a);

-- A pool did not ask where another is known to have, or where who asked is in another library than whatever asks for the pools: a pool
-- may have several places that ask, but in its own code. One that gave memory back meanwhile was heard. What emptying its cache gives
-- back are segments without a block.
CREATE TEMP TABLE kept_by AS
SELECT
    c.out_of_memory_chain_id,
    y.heap_id,
    y.free_bytes - y.stuck_bytes AS cache_bytes
FROM z_out_of_memory_chain AS c
JOIN heap AS h ON h.process_id = c.process_id AND h.device_id = c.device_id AND h.level = 2
JOIN fragmentation_sample AS y ON y.moment_id = c.moment_id AND y.heap_id = h.heap_id AND y.stuck_bytes IS NOT NULL
WHERE c.driver_failure_count > 0
    AND h.heap_id IS NOT c.pool_heap_id
    AND y.free_bytes > y.stuck_bytes
    AND (
        c.pool_heap_id IS NOT NULL
        OR c.released_bytes = 0
        AND h.heap_id IN (SELECT g.heap_id FROM temp.segment_stack AS g)
        AND NOT EXISTS (
            SELECT 1
            FROM temp.segment_stack AS g
            JOIN heap AS o ON o.heap_id = g.heap_id AND o.process_id = c.process_id AND o.device_id = c.device_id
            LEFT JOIN stack AS s ON s.stack_id = g.stack_id
            LEFT JOIN frame AS f ON f.frame_id = s.frame_id
            LEFT JOIN stack AS w ON w.stack_id = c.stack_id
            LEFT JOIN frame AS r ON r.frame_id = w.frame_id
            WHERE coalesce(f.module = r.module, 1)
        )
    );

UPDATE z_out_of_memory_chain
SET other_cache_bytes = (
        SELECT sum(k.cache_bytes)
        FROM temp.kept_by AS k
        WHERE k.out_of_memory_chain_id = z_out_of_memory_chain.out_of_memory_chain_id
    ),
    other_cache_heap_id = (
        SELECT k.heap_id
        FROM temp.kept_by AS k
        WHERE k.out_of_memory_chain_id = z_out_of_memory_chain.out_of_memory_chain_id
        ORDER BY k.cache_bytes DESC, k.heap_id
        LIMIT 1
    )
WHERE out_of_memory_chain_id IN (SELECT k.out_of_memory_chain_id FROM temp.kept_by AS k);

DROP TABLE temp.kept_by;
DROP TABLE temp.asked_by;
