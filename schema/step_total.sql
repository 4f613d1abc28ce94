-- What each step took.

CREATE TABLE z_step_sum (
    -- What each heap did in each step of its process, over the whole recording. Steps in which a heap did nothing have no
    -- row. Shown by the view step_total.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Number of the step, as the program counts; of several steps that of the first. NULL: before the first step.
    number INTEGER,
    -- How many steps of the process had begun with it; 0: before the first step.
    generation INTEGER NOT NULL,
    -- The same of the last step that the row is of: long recordings that were kept in parts have joined old steps.
    last_generation INTEGER NOT NULL,
    -- Place of the step's begin in the order of events. NULL: before the first step.
    begin_seq INTEGER,
    -- Place of the event that ended it. NULL: it did not end in this trace.
    end_seq INTEGER,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known, or before the first step.
    begin_ns INTEGER,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known.
    end_ns INTEGER,
    -- Allocations in it. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Ends of allocations in it, the baseline left out. Unit: allocations.
    free_count INTEGER NOT NULL,
    -- Sum of what was allocated in it. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Sum of what ended in it, the baseline left out. Unit: bytes.
    freed_bytes INTEGER NOT NULL,
    -- Requests for which the pool had to grow. Unit: allocations. NULL: it is not known which they were.
    miss_count INTEGER,
    -- Most that was live in it. Unit: bytes.
    peak_bytes INTEGER NOT NULL,
    -- Live at its end. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Live allocations at its end. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Of what was allocated in it what was not freed by its end. Unit: allocations. NULL: not known.
    left_count INTEGER,
    -- The same. Unit: bytes. NULL: not known.
    left_bytes INTEGER,
    -- Most that the pool had reserved in it, what there was at its begin included. Unit: bytes. NULL: not a pool, or not
    -- known.
    peak_reserved_bytes INTEGER,
    -- Allocations and ends of driver memory of the heap's device and process in it. Unit: calls. NULL: host memory.
    driver_call_count INTEGER,
    -- Most that graphs held of what is live in it: what was born in their captures. Unit: bytes.
    graph_bytes INTEGER NOT NULL,
    -- Most that graphs held of the pool's segments in it. Unit: bytes.
    graph_reserved_bytes INTEGER NOT NULL,
    PRIMARY KEY (heap_id, generation) ON CONFLICT REPLACE
) WITHOUT ROWID;

-- catalog: first 15, counted by z_step_sum
CREATE VIEW step_total (
    -- What each heap did and took in each step, over the whole recording; steps in which it did nothing are left out.
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
    -- Number of the step: as the program counts, or from 1 where it is inferred; of several joined ones that of the first.
    -- NULL: before the first step.
    step,
    -- How many steps the row is of: a long recording that was kept in parts has joined old ones. Unit: steps.
    step_count,
    -- 'marked' or 'inferred': see view step_origin. NULL: before the first step.
    source,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known, or before the first step.
    begin_ns,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known.
    end_ns,
    -- How long it took. Unit: nanoseconds. NULL: not known, it did not end, or before the first step.
    duration_ns,
    -- Allocations in it. Unit: allocations.
    allocation_count,
    -- Ends of allocations in it, the baseline left out. Unit: allocations.
    free_count,
    -- Sum of what was allocated in it. Unit: bytes.
    allocated_bytes,
    -- Sum of what ended in it, the baseline left out. Unit: bytes.
    freed_bytes,
    -- Requests for which the pool had to grow. Unit: allocations. NULL: not a pool, or not known.
    miss_count,
    -- Most that was live in it, what was there at its begin included. Unit: bytes.
    peak_bytes,
    -- Most that the pool had reserved in it, what was there at its begin included. Unit: bytes. NULL: not a pool, or not
    -- known.
    peak_reserved_bytes,
    -- Live at its end. Unit: bytes.
    live_bytes,
    -- Live allocations at its end. Unit: allocations.
    live_count,
    -- Allocations and frees of driver memory of the heap's device and process in it. Unit: calls. NULL: host memory.
    driver_call_count,
    -- Which size the sums of this heap use: 'requested' or 'block'.
    size_basis,
    -- 1: each of its events has a row in this database; 0: only this sum was kept of some.
    has_detail,
    -- 1: something of it is missing: it did not end, it had begun before the first event while memory was in use, events
    -- of the input were lost, what was live before the recording is not known, or the process was paused in it; 0: it is
    -- whole. NULL: before the first step.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    t.number,
    t.last_generation - t.generation + 1,
    CASE WHEN t.generation > 0 THEN coalesce(step.source, 'marked') END,
    t.begin_ns,
    t.end_ns,
    CASE WHEN t.generation > 0 THEN t.end_ns - t.begin_ns END,
    t.allocation_count,
    t.free_count,
    t.allocated_bytes,
    t.freed_bytes,
    CASE WHEN p.level IN ('pool', 'workspace') THEN t.miss_count END,
    t.peak_bytes,
    t.peak_reserved_bytes,
    t.live_bytes,
    t.live_count,
    t.driver_call_count,
    p.size_basis,
    coalesce(coalesce(t.begin_seq, -1) >= input.detail_begin_seq, 1),
    CASE
        WHEN t.generation = 0 THEN NULL
        WHEN t.end_seq IS NULL
            OR input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0) > 0
            OR input.baseline = 'unknown'
            OR (t.begin_ns < 0 AND input.baseline <> 'none') THEN 1
        WHEN paused.process_id IS NULL THEN 0
        -- The first pause to end in the step or after it, or one that never ended.
        ELSE coalesce((
            SELECT z_pause.begin_seq
            FROM z_pause
            WHERE z_pause.process_id = p.process_id
                AND z_pause.is_memory_told = 0
                AND z_pause.end_seq > coalesce(t.begin_seq, -1)
                AND z_pause.begin_seq IS NOT NULL
            ORDER BY z_pause.end_seq
            LIMIT 1
        ) < t.end_seq, 0) OR EXISTS (
            SELECT 1
            FROM z_pause
            WHERE z_pause.process_id = p.process_id
                AND z_pause.is_memory_told = 0
                AND z_pause.end_seq IS NULL
                AND z_pause.begin_seq < t.end_seq
        )
    END
FROM z_heap_place AS p
JOIN input ON input.input_id = p.input_id
LEFT JOIN (
    SELECT DISTINCT z_pause.process_id
    FROM z_pause
    WHERE z_pause.is_memory_told = 0
) AS paused ON paused.process_id = p.process_id
CROSS JOIN z_step_sum AS t ON t.heap_id = p.heap_id
LEFT JOIN step ON step.process_id = p.process_id AND step.generation = t.generation
ORDER BY p.heap_id, t.generation;
