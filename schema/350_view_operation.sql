-- Operators and models: their workspaces, and the memory that was allocated for them; calls about streams.

CREATE VIEW operation_memory (
    -- What was allocated for each operation, by name; largest first. The rows of a heap sum to its row in heap_total.
    -- An allocation belongs to the innermost open range of its thread; where there was none, to the first operator that
    -- used it as its workspace. A range that allocates nothing itself has a row when the heap rose in it.
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
    -- Name of the operation. NULL: it has none, or none is known (then kind is NULL).
    operation,
    -- A word of operation_kind. NULL: allocations of which no operation is known.
    kind,
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count,
    -- Their size. Unit: bytes.
    allocated_bytes,
    -- The largest of them. Unit: bytes.
    max_bytes,
    -- Not freed by the end of the trace, and not a segment. Unit: allocations.
    outstanding_count,
    -- Their size. Unit: bytes.
    outstanding_bytes,
    -- Allocations made by a thread inside the operation's range. Unit: allocations.
    thread_count,
    -- Workspaces that the thread of the operator had allocated. Unit: allocations.
    workspace_count,
    -- Workspaces that another thread had allocated. Unit: allocations.
    queue_count,
    -- What of its allocations has ended, in whole or in part, whenever that was. Unit: allocations.
    freed_count,
    -- allocated_bytes without what is still there at the end. Unit: bytes.
    freed_bytes,
    -- Runs in which the thread of the operation allocated from the heap or freed to it. Unit: operations.
    measured_count,
    -- Peak over the start: the most that the heap rose above what it held when a run began, until that run ended, or as
    -- far as it was recorded; of all measured runs the highest. Counted is what the thread of the run did: its
    -- allocations less all that it freed, in ranges within the run too; what other threads did meanwhile is not. A
    -- workspace that was there before its operator began is no part of it. Unit: bytes. NULL: no run was measured.
    peak_over_start_bytes,
    -- The same on average over the measured runs. Unit: bytes. NULL: no run was measured.
    mean_peak_over_start_bytes,
    -- Where the run with the highest began, in the order of events; the first of several. NULL: no run was measured.
    peak_over_start_seq,
    -- 1: some is missing: runs lie in a window of loss (they are not measured), what was live before the recording is
    -- not known, so that its frees do not lower the peaks, or the process was paused; 0: it is whole.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    s.name,
    k.name,
    s.allocation_count,
    s.allocated_bytes,
    s.max_bytes,
    s.outstanding_count,
    s.outstanding_bytes,
    s.thread_count,
    s.workspace_count,
    s.queue_count,
    s.freed_count,
    s.freed_bytes,
    s.measured_count,
    s.max_rise_bytes,
    CASE WHEN s.measured_count > 0 THEN CAST(s.rise_bytes AS REAL) / s.measured_count END,
    s.max_rise_seq,
    s.doubtful_count > 0
        OR input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0) > 0
        OR input.baseline = 'unknown'
        OR EXISTS (SELECT 1 FROM z_pause WHERE z_pause.process_id = p.process_id)
FROM z_operation_memory_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
JOIN input ON input.input_id = p.input_id
LEFT JOIN operation_kind AS k ON k.kind = s.kind
ORDER BY s.allocated_bytes DESC, s.heap_id, s.kind, s.name;

CREATE VIEW model_memory (
    -- Device memory by model: what the driver gave while each offline model was loaded and run, and how much of it was given back;
    -- most first. What operators and other ranges inside took is theirs, and memory that the program itself gave to a load
    -- (aclmdlLoadFromFileWithMem and its kin) is the program's: view operation_memory.
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
    -- Name of the heap: the program's own driver memory, that of a module of CANN, or physical memory.
    heap,
    -- 'driver' or 'physical'.
    level,
    -- Name of the model: its file's; 'unnamed model' and which one it was, when it came from memory or with a configuration;
    -- 'model' and the runtime's number, when its load was not recorded. NULL: it has none.
    model,
    -- Loads of that name that began in the trace and did not fail; of a file of several models, one. Unit: operations.
    load_count,
    -- Likewise unloads. Unit: operations.
    unload_count,
    -- Runs of the model that began in the trace. Unit: operations.
    run_count,
    -- Driver allocations in all these, segments of pools too. Unit: allocations.
    allocation_count,
    -- Their size. Unit: bytes.
    allocated_bytes,
    -- What of it came while it was loaded: weights, and a workspace that is there from the start. Unit: bytes.
    load_bytes,
    -- What of allocated_bytes was given back, whenever that was. Unit: bytes.
    freed_bytes,
    -- What of that was given back by the unload of a model. Unit: bytes.
    unload_freed_bytes,
    -- What the model still held at the end, unloaded or not. Unit: bytes.
    held_bytes,
    -- The most that the heap rose in one load or run above what it held when that began. Unit: bytes. NULL: none was measured.
    peak_over_start_bytes
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    s.name,
    coalesce((
        SELECT sum(o.run_count - o.error_count)
        FROM z_operation_sum AS o
        WHERE o.process_id IS p.process_id AND o.kind = 6 AND o.name IS s.name
    ), 0),
    coalesce((
        SELECT sum(o.run_count - o.error_count)
        FROM z_operation_sum AS o
        WHERE o.process_id IS p.process_id AND o.kind = 7 AND o.name IS s.name
    ), 0),
    coalesce((
        SELECT sum(o.run_count)
        FROM z_operation_sum AS o
        WHERE o.process_id IS p.process_id AND o.kind = 3 AND o.name IS s.name
    ), 0),
    sum(s.allocation_count),
    sum(s.allocated_bytes),
    sum(CASE WHEN s.kind = 6 THEN s.allocated_bytes ELSE 0 END),
    sum(s.freed_bytes),
    sum(s.unloaded_bytes),
    sum(s.allocated_bytes - s.freed_bytes),
    max(s.max_rise_bytes)
FROM z_operation_memory_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
WHERE s.kind IN (3, 6, 7) AND p.level IN ('driver', 'physical')
GROUP BY s.heap_id, s.name
ORDER BY sum(s.allocated_bytes - s.freed_bytes) DESC, sum(s.allocated_bytes) DESC, s.heap_id, s.name;

CREATE VIEW z_stream_call_total (
    -- Calls about streams and events of each process, by device, kind and stream.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: not known.
    device,
    -- Always NULL: a stream is not of one heap.
    heap,
    -- Always NULL: a stream is not of one level.
    level,
    -- A word of z_stream_call_kind.
    kind,
    -- The stream. NULL: none, or not known.
    stream,
    -- Calls. Unit: calls.
    call_count,
    -- Time spent in them; of a synchronisation the time waited. Unit: nanoseconds. NULL: not known.
    cost_ns,
    -- Calls that failed. Unit: calls.
    error_count
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(d.physical_ordinal, d.ordinal),
    NULL,
    NULL,
    k.name,
    g.stream,
    g.call_count,
    g.cost_ns,
    g.error_count
FROM z_stream_call_sum AS g
LEFT JOIN process ON process.process_id = g.process_id
LEFT JOIN device AS d ON d.device_id = g.device_id
LEFT JOIN z_stream_call_kind AS k ON k.kind = g.kind
ORDER BY g.process_id, g.device_id, g.kind, g.stream;
