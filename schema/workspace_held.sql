-- Workspaces that are held while no operator works in them.

CREATE TABLE z_workspace_hold_sum (
    -- Blocks that served operators as workspaces, by heap and by the stream of the operator that used them last: how
    -- long they were used and held. Shown by the view z_workspace_held.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The stream. NULL: not known.
    stream INTEGER,
    -- Blocks whose last operator ran on the stream. Unit: allocations.
    block_count INTEGER NOT NULL,
    -- Operators that ran in one of them. Unit: operations.
    use_count INTEGER NOT NULL,
    -- Times that a block was used again after no operator had worked in it. Unit: spans.
    reuse_count INTEGER NOT NULL,
    -- Size x time in use. Unit: byte seconds.
    used_byte_s REAL NOT NULL,
    -- Size x time between two uses. Unit: byte seconds.
    between_byte_s REAL NOT NULL,
    -- Size x time from the last use to the free. Unit: byte seconds.
    after_byte_s REAL NOT NULL,
    -- Size x time from the last use to the end of the process, or of the trace, of what was not freed. Unit: byte
    -- seconds.
    at_end_byte_s REAL NOT NULL,
    -- The longest time between two uses. Unit: nanoseconds.
    max_between_ns INTEGER NOT NULL,
    -- Blocks that were held to the end, with no operator in them. Unit: allocations.
    idle_count_at_end INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    idle_bytes_at_end INTEGER NOT NULL,
    -- Spans of which the time is not known. Unit: spans.
    untimed_count INTEGER NOT NULL
);

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
