-- Operations step by step, and workspaces that are held while no operator works in them.

CREATE VIEW z_operation_memory_by_step (
    -- What was allocated for each operation in each step: of each heap and step the 16 operations with the most bytes,
    -- then one row of all others. Of long runs fewer steps are here: all of the first 1,024, every second of the next
    -- 1,024, and so on, and the last. Over all steps an operation has what view operation_memory says of it.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: host memory, or as heap.
    device,
    -- Name of the heap. NULL: workspaces of which the block is not known.
    heap,
    -- Level of the heap. NULL: as heap.
    level,
    -- Number of the step. NULL: before the first.
    step,
    -- Name of the operation. NULL: it has none, or it is the row of all others (then kind is NULL).
    operation,
    -- A word of operation_kind. NULL: the row of all others.
    kind,
    -- How many names the row is of. Unit: operations.
    name_count,
    -- Allocations that came to the operation in the step: new ones, or workspaces that it was the first to use. Unit:
    -- allocations.
    allocation_count,
    -- Their size. Unit: bytes.
    allocated_bytes,
    -- What of its allocations, of whatever step, ended in this one. Unit: allocations.
    freed_count,
    -- Its size. Unit: bytes.
    freed_bytes,
    -- Runs that ended in the step and in which the thread of the operation touched the heap. Unit: operations.
    measured_count,
    -- Their highest peak over the start, as in view operation_memory. Unit: bytes. NULL: no run was measured.
    peak_over_start_bytes,
    -- Runs that began in the step and were given a workspace in the heap. Unit: operations.
    workspace_run_count,
    -- The workspaces that they asked for. Unit: bytes.
    requested_bytes,
    -- The blocks that those lay in, once for each run. Unit: bytes. NULL: no block is known.
    block_bytes,
    -- How much of those blocks the operators asked for. Unit: ratio (0 to 1). NULL: no block is known.
    used_ratio,
    -- 1: some is missing: events were lost, what was live before the recording is not known, or the process was paused;
    -- 0: it is whole.
    is_partial
) AS
SELECT
    process.host, process.rank, process.pid, p.device, p.heap, p.level,
    s.number,
    s.name,
    k.name,
    s.name_count,
    s.allocation_count,
    s.allocated_bytes,
    s.freed_count,
    s.freed_bytes,
    s.measured_count,
    s.max_rise_bytes,
    s.workspace_count,
    s.workspace_bytes,
    s.workspace_block_bytes,
    CASE WHEN s.workspace_block_bytes > 0 THEN CAST(s.workspace_bytes AS REAL) / s.workspace_block_bytes END,
    s.doubtful_count > 0
        OR input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0) > 0
        OR input.baseline = 'unknown'
        OR EXISTS (SELECT 1 FROM z_pause WHERE z_pause.process_id = s.process_id)
FROM z_operation_step_sum AS s
JOIN process ON process.process_id = s.process_id
JOIN input ON input.input_id = process.input_id
LEFT JOIN z_heap_place AS p ON p.heap_id = s.heap_id
LEFT JOIN operation_kind AS k ON k.kind = s.kind
ORDER BY
    s.process_id,
    s.generation,
    s.heap_id,
    s.kind IS NULL,
    s.allocated_bytes + s.workspace_bytes DESC,
    s.kind,
    s.name;

CREATE VIEW z_workspace_held (
    -- Blocks that served operators as workspaces: how long each was in use and how long it was held with no operator in
    -- it, from its first operator to its end; by heap and stream, most idle first. An operator works in its block from
    -- the begin of its call to the end: what the device does after the call has returned is not recorded, so that idle
    -- time is never more than is said here. Operators of which it is not certain which block they were given do not
    -- count.
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
    -- Stream of the operator that used the block last before the time in question. NULL: not known.
    stream,
    -- Blocks whose last operator ran on the stream. Unit: allocations.
    block_count,
    -- Operators that ran in one of them. Unit: operations.
    use_count,
    -- Times that a block was used again after it had been idle. Unit: spans.
    reuse_count,
    -- Size x time from the first operator to the end of the block. Unit: byte seconds.
    held_byte_s,
    -- Size x time between two uses of a block. Unit: byte seconds.
    idle_between_byte_s,
    -- Size x time from the last use of a block to its end, or to that of the process or trace. Unit: byte seconds.
    idle_after_byte_s,
    -- Share of held_byte_s in which no operator worked in the block. Unit: ratio (0 to 1). NULL: is_partial, or no time
    -- has passed.
    idle_ratio,
    -- The longest time between two uses of a block. Unit: nanoseconds. NULL: no block was used again.
    max_idle_between_ns,
    -- Blocks that were held to the end of the process or trace, with no operator in them. Unit: allocations.
    idle_count_at_end,
    -- Their size. Unit: bytes.
    idle_bytes_at_end,
    -- 1: uses may be missing, or times are not known, so that there is no idle_ratio: events were lost, the recording
    -- began late, or the process was paused; 0: it is whole.
    is_partial
) AS
SELECT
    w.host, w.rank, w.pid, w.device, w.heap, w.level,
    w.stream,
    w.block_count,
    w.use_count,
    w.reuse_count,
    w.held_byte_s,
    w.between_byte_s,
    w.idle_after_byte_s,
    CASE
        WHEN w.is_partial = 0 AND w.held_byte_s > 0
            THEN (w.between_byte_s + w.idle_after_byte_s) / w.held_byte_s
    END,
    CASE WHEN w.reuse_count > 0 THEN w.max_between_ns END,
    w.idle_count_at_end,
    w.idle_bytes_at_end,
    w.is_partial
FROM (
    SELECT
        p.host, p.rank, p.pid, p.device, p.heap, p.level,
        h.heap_id,
        h.stream,
        h.block_count,
        h.use_count,
        h.reuse_count,
        h.between_byte_s,
        h.max_between_ns,
        h.idle_count_at_end,
        h.idle_bytes_at_end,
        h.used_byte_s + h.between_byte_s + h.after_byte_s + h.at_end_byte_s AS held_byte_s,
        h.after_byte_s + h.at_end_byte_s AS idle_after_byte_s,
        h.untimed_count > 0
            OR input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0) > 0
            OR input.baseline = 'unknown'
            OR EXISTS (SELECT 1 FROM z_pause WHERE z_pause.process_id = p.process_id) AS is_partial
    FROM z_workspace_hold_sum AS h
    JOIN z_heap_place AS p ON p.heap_id = h.heap_id
    JOIN input ON input.input_id = p.input_id
) AS w
ORDER BY w.between_byte_s + w.idle_after_byte_s DESC, w.heap_id, w.stream;
