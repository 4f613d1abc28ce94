-- Steps: where they come from, what each took, and what the next ones will.

CREATE VIEW step_origin (
    -- How it is known where the steps of each process begin, and at which place; or why it is not known.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Always NULL: steps are of a process.
    device,
    -- Always NULL: steps are of a process.
    heap,
    -- Always NULL: steps are of a process.
    level,
    -- 'marked': the program says where they begin; 'inferred': npumem-ingest found it, or was told by --step-at; 'none':
    -- not known.
    source,
    -- 'site', 'range', 'optimizer' or 'graph': what the anchor is. NULL: there is none.
    kind,
    -- The place: 'file:line function' of a site, the name of a range, the site of the optimizer's step; where none was
    -- found, what came nearest. NULL: nothing came near, or steps are marked.
    anchor,
    -- 1: --step-at named it; 0: it was found.
    is_given,
    -- Steps. Unit: steps.
    step_count,
    -- How often the place was met while looking for it. Unit: occurrences. NULL: no place.
    recur_count,
    -- Share of the distances from one occurrence to the next that are alike. Unit: 0 to 1. NULL: not known.
    regular_ratio,
    -- Allocations from one occurrence to the next, as they mostly are; of a range also operators. Unit: allocations. NULL: not known.
    allocation_count,
    -- Why this place, or why none.
    reason
) AS
SELECT
    process.host, process.rank, process.pid,
    NULL,
    NULL,
    NULL,
    CASE a.kind WHEN 'marked' THEN 'marked' WHEN 'none' THEN 'none' ELSE 'inferred' END,
    CASE WHEN a.kind NOT IN ('marked', 'none') THEN a.kind END,
    coalesce(a.name, f.label),
    a.is_given,
    a.step_count,
    a.recur_count,
    a.regular_ratio,
    a.allocation_count,
    a.reason
FROM z_step_anchor AS a
JOIN process ON process.process_id = a.process_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
ORDER BY a.process_id;

CREATE VIEW z_warm_up (
    -- How many steps of each process are its warm-up, in which a pool has to grow and state is made that later steps find
    -- there: the first two, of two steps the first. Every figure "after the warm-up" goes by it. Processes without steps
    -- are left out.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Always NULL: steps are of a process.
    device,
    -- Always NULL: steps are of a process.
    heap,
    -- Always NULL: steps are of a process.
    level,
    -- Number of the process.
    process_id,
    -- Steps of the process. Unit: steps.
    step_count,
    -- Those of them that are warm-up: of one step all. Unit: steps.
    warm_up_count
) AS
SELECT
    p.host, p.rank, p.pid,
    NULL,
    NULL,
    NULL,
    p.process_id,
    n.step_count,
    CASE WHEN n.step_count > 2 THEN 2 ELSE 1 END
FROM (
    SELECT z_growth_step.process_id, max(z_growth_step.generation) AS step_count
    FROM z_growth_step -- has the last step of each process, and few others
    GROUP BY z_growth_step.process_id
) AS n
JOIN process AS p ON p.process_id = n.process_id;

-- catalog: first 15
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

-- catalog: first 14
CREATE VIEW forecast (
    -- Whether what a heap or a device holds grows from step to step, and when the device is full if it goes on like that:
    -- a line is fitted to the most that was held in each step after the first quarter of them. In doubt there is no trend.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device.
    device,
    -- Name of the heap. NULL: all driver memory of the process, or of all of them, on the device.
    heap,
    -- Level of the heap. NULL: as heap.
    level,
    -- 'allocated': what is live; 'reserved': what a pool holds of the driver's memory; 'device': what the driver has
    -- given to the process; 'all processes': to all recorded processes on the device, by the steps of this one; where
    -- there are others.
    measure,
    -- 'growing', or 'none': there is no trend.
    verdict,
    -- Why there is no trend, or why it is not known when the device is full. NULL: neither.
    reason,
    -- Slope of the line. Unit: bytes a step. NULL: too few steps.
    bytes_per_step,
    -- The line at the last step. Unit: bytes. NULL: too few steps.
    line_bytes,
    -- What it may grow to before the device is full, if all else on the device stays: of this process, of others, and what
    -- else the device said was in use. Unit: bytes. NULL: the size of the device is not known.
    limit_bytes,
    -- Steps from the last one until the device is full; 0: the line is there already. Unit: steps. NULL: no trend, or not
    -- known.
    steps_left,
    -- Number of that step, as the program counts. NULL: as steps_left.
    full_step,
    -- When that is, if steps go on to take as long. Unit: nanoseconds since the recording began. NULL: as steps_left, or
    -- times are not known.
    full_ns,
    -- Steps of the process that have ended. Unit: steps.
    step_count,
    -- Steps that the line was fitted to. Unit: steps. NULL: too few.
    fitted_count,
    -- Standard deviation of the steps from the line. Unit: bytes. NULL: too few steps.
    scatter_bytes,
    -- Slope over its own standard error. NULL: too few steps.
    t_value,
    -- What that has to be at least for a trend. NULL: too few steps.
    t_needed,
    -- 1: events were lost, or what was live before the recording is not known, so nothing is claimed; 0: nothing is missing.
    is_partial
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(device.physical_ordinal, device.ordinal),
    heap.name,
    heap_level.name,
    t.measure,
    t.verdict,
    t.reason,
    t.growth_bytes,
    t.line_bytes,
    t.limit_bytes,
    t.steps_left,
    t.full_step,
    t.full_ns,
    t.step_count,
    t.fitted_count,
    t.scatter_bytes,
    t.t_value,
    t.t_needed,
    input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0) > 0 OR input.baseline = 'unknown'
FROM z_step_trend AS t
JOIN device ON device.device_id = t.device_id
JOIN process ON process.process_id = device.process_id
JOIN input ON input.input_id = process.input_id
LEFT JOIN heap ON heap.heap_id = t.heap_id
LEFT JOIN heap_level ON heap_level.level = heap.level
ORDER BY t.verdict, t.steps_left IS NULL, t.steps_left, t.device_id, t.heap_id, t.measure;
