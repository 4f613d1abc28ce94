-- Which sums belong to a call stack.

CREATE TABLE z_stack_sum (
    -- Allocations of one heap by stack, over the whole recording, without the baseline.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Allocations. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of these, how many ended. Unit: allocations.
    free_count INTEGER NOT NULL,
    -- Sum of what was allocated. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Of these, how much ended. Unit: bytes.
    freed_bytes INTEGER NOT NULL,
    -- Part of allocated_bytes that was allocated in the steps of table step: not before the first, and not before
    -- input.detail_begin_seq. Unit: bytes.
    in_step_bytes INTEGER NOT NULL
);

-- catalog: large, not counted
CREATE VIEW stack_sum (
    -- Sums of each heap by whole call stacks: what was allocated by a stack, what of it was live at the peak, and what leaked.
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
    -- The stack. NULL: none was recorded.
    stack_id,
    -- 'allocated': over the recording; 'leaked'; 'live at the peak', of the heap, and with ', from before the recording' what was there
    -- when it began and has no stack; 'from before the recording': such blocks with a stack, whatever became of them; 'live when the
    -- pool held most': of what has rows in allocation_detail; 'held when it failed': before a request failed, of the 64 largest stacks.
    what,
    -- Of what leaked, as in leak_by_site. NULL: all else.
    verdict,
    -- Of what was held when a request failed: number of it, in view out_of_memory. NULL: all else.
    out_of_memory_id,
    -- Unit: bytes.
    bytes,
    -- Unit: allocations.
    allocation_count,
    -- Number of the heap: several of a process may have one name.
    heap_id
) AS
WITH
    reserve (host, rank, pid, device, heap, level, heap_id, seq, ns) AS (
        SELECT host, rank, pid, device, heap, level, heap_id, seq, NULL
        FROM z_named_moment
        WHERE moment = 'reserve' AND level IN ('pool', 'workspace')
    ),
    -- begin known reserve
    -- Where to look for what was live at the moments of reserve (table z_birth_part), and the rows there.
    near (heap_id, first_id, last_id) AS (
        SELECT DISTINCT
            y.heap_id,
            y.first_id,
            y.last_id
        FROM reserve AS x
        CROSS JOIN z_birth_part AS y ON y.heap_id = x.heap_id
        WHERE coalesce(x.seq, x.ns) IS NOT NULL
            AND CASE
                WHEN x.seq IS NULL THEN coalesce(y.first_ns <= x.ns, 1) AND coalesce(y.end_ns > x.ns, 1)
                ELSE coalesce(y.first_seq <= x.seq, 1) AND coalesce(y.end_seq > x.seq, 1)
            END
    ),
    known (allocation_id) AS (
        SELECT DISTINCT there.allocation_id
        FROM near AS x
        CROSS JOIN allocation AS there ON there.allocation_id BETWEEN x.first_id AND x.last_id AND +there.heap_id = x.heap_id
    ),
    -- end known
    live (heap_id, stack_id, size_bytes, alloc_seq, free_seq) AS (
        SELECT
            a.heap_id,
            a.stack_id,
            a.size_bytes,
            a.alloc_seq,
            a.free_seq
        FROM known AS c
        CROSS JOIN allocation AS a ON a.allocation_id = c.allocation_id
    )
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    q.stack_id,
    'allocated',
    NULL,
    NULL,
    q.allocated_bytes,
    q.allocation_count,
    q.heap_id
FROM z_stack_sum AS q
JOIN z_heap_place AS p ON p.heap_id = q.heap_id
UNION ALL
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    q.stack_id,
    CASE q.is_baseline WHEN 1 THEN 'live at the peak, from before the recording' ELSE 'live at the peak' END,
    NULL,
    NULL,
    sum(q.live_bytes),
    sum(q.live_count),
    q.heap_id
FROM z_peak_stack AS q
JOIN z_heap_place AS p ON p.heap_id = q.heap_id
GROUP BY q.heap_id, q.stack_id, q.is_baseline
UNION ALL
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    q.stack_id,
    'leaked',
    q.verdict,
    NULL,
    sum(q.leak_count * q.size_bytes),
    sum(q.leak_count),
    q.heap_id
FROM z_leaked_sum AS q
JOIN z_heap_place AS p ON p.heap_id = q.heap_id
GROUP BY q.heap_id, q.stack_id, q.verdict
UNION ALL
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    q.stack_id,
    'from before the recording',
    NULL,
    NULL,
    q.block_bytes,
    q.block_count,
    q.heap_id
FROM z_older_blocks AS q
JOIN z_heap_place AS p ON p.heap_id = q.heap_id
UNION ALL
SELECT
    n.host, n.rank, n.pid, n.device, n.heap, n.level,
    a.stack_id,
    'live when the pool held most',
    NULL,
    NULL,
    sum(a.size_bytes),
    count(*),
    n.heap_id
FROM live AS a
CROSS JOIN reserve AS n ON n.heap_id = a.heap_id
WHERE (a.alloc_seq IS NOT NULL OR a.stack_id IS NOT NULL)
    AND coalesce(a.alloc_seq, -1) <= n.seq
    AND (a.free_seq IS NULL OR a.free_seq > n.seq)
GROUP BY n.heap_id, a.stack_id
UNION ALL
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    q.stack_id,
    'held when it failed',
    NULL,
    q.out_of_memory_chain_id,
    q.live_bytes,
    q.live_count,
    q.heap_id
FROM z_out_of_memory_stack AS q
JOIN z_heap_place AS p ON p.heap_id = q.heap_id
WHERE q.is_rest = 0
    AND q.is_baseline = 0;
