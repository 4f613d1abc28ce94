-- What operators took.

CREATE TABLE z_operation_memory_sum (
    -- Allocations of one heap by the name of their operation. Shown by the view operation_memory.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- A code of operation_kind. NULL: allocations of which no operation is known.
    kind INTEGER REFERENCES operation_kind (kind),
    -- Name of the operation. NULL: it has none, or none is known.
    name TEXT,
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- The largest of them. Unit: bytes.
    max_bytes INTEGER NOT NULL,
    -- Not freed by the end of the trace, and not a segment. Unit: allocations.
    outstanding_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    outstanding_bytes INTEGER NOT NULL,
    -- Those whose operation_source is 'thread'. Unit: allocations.
    thread_count INTEGER NOT NULL,
    -- Those whose operation_source is 'workspace'. Unit: allocations.
    workspace_count INTEGER NOT NULL,
    -- Those whose operation_source is 'queue'. Unit: allocations.
    queue_count INTEGER NOT NULL,
    -- Allocations that have ended, in whole or in part. Unit: allocations.
    freed_count INTEGER NOT NULL,
    -- allocated_bytes without what is still there at the end. Unit: bytes.
    freed_bytes INTEGER NOT NULL,
    -- What of it ended while its thread unloaded a model, whichever that was. Unit: bytes.
    unloaded_bytes INTEGER NOT NULL,
    -- Runs in which the thread of the operation allocated from the heap or freed to it. Unit: operations.
    measured_count INTEGER NOT NULL,
    -- The peaks over their start of all these, added up. Unit: bytes.
    rise_bytes INTEGER NOT NULL,
    -- The largest of them. Unit: bytes. NULL: none was measured.
    max_rise_bytes INTEGER,
    -- Where the run with the largest began, in the order of events; the first of several. NULL: none was measured.
    max_rise_seq INTEGER,
    -- Such runs in which events may be missing, or that touched more than 64 heaps; not among measured_count. Unit:
    -- operations.
    doubtful_count INTEGER NOT NULL
);

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
