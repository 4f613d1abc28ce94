-- slowest_calls.sql: which allocation calls took longest, with their whole stacks.
-- Parameters: :top    calls of each heap (default 5, at most 20)
-- Columns:    heap name; cost_ns nanoseconds; size_bytes bytes; ns when, nanoseconds, NULL where unknown; thread name or
--             number, NULL where unknown; frames of the stack, innermost first, 32 at most, NULL where no stack was
--             recorded
WITH RECURSIVE
    call (heap_id, place, cost_ns, size_bytes, ns, thread_id, stack_id) AS (
        SELECT
            z_slowest_call.heap_id,
            z_slowest_call.place,
            z_slowest_call.cost_ns,
            z_slowest_call.size_bytes,
            z_slowest_call.ns,
            z_slowest_call.thread_id,
            z_slowest_call.stack_id
        FROM z_slowest_call
        WHERE z_slowest_call.place <= coalesce(:top, 5)
    ),
    walk (heap_id, place, depth, parent_id, frames) AS (
        SELECT call.heap_id, call.place, 1, stack.parent_id, coalesce(frame.label, '?')
        FROM call
        JOIN stack ON stack.stack_id = call.stack_id
        LEFT JOIN frame ON frame.frame_id = stack.frame_id
        UNION ALL
        SELECT
            walk.heap_id,
            walk.place,
            walk.depth + 1,
            stack.parent_id,
            walk.frames || ' < ' || coalesce(frame.label, '?')
        FROM walk
        JOIN stack ON stack.stack_id = walk.parent_id
        LEFT JOIN frame ON frame.frame_id = stack.frame_id
        WHERE walk.depth < 32
    )
SELECT
    z_heap_place.heap AS heap,
    call.cost_ns AS cost_ns,
    call.size_bytes AS size_bytes,
    call.ns AS ns,
    coalesce(thread.name, CAST(thread.tid AS TEXT)) AS thread,
    walk.frames AS frames
FROM call
JOIN z_heap_place ON z_heap_place.heap_id = call.heap_id
LEFT JOIN thread ON thread.thread_id = call.thread_id
LEFT JOIN walk ON walk.heap_id = call.heap_id AND walk.place = call.place
    AND (walk.parent_id IS NULL OR walk.depth = 32)
ORDER BY call.heap_id, call.place
-- begin guard :top; -1
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
