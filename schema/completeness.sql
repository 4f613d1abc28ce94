-- What is missing from the answers.

-- catalog: first 1
CREATE VIEW completeness (
    -- One row per input: how much of what happened is in this database.
    --
    -- Name of the machine, where all processes ran on one. NULL: several, or not known.
    host,
    -- Always NULL: an input is not of one rank.
    rank,
    -- Always NULL: an input is not of one process.
    pid,
    -- Always NULL: an input is not of one device.
    device,
    -- Always NULL: an input is not of one heap.
    heap,
    -- Always NULL: an input is not of one level.
    level,
    -- The file.
    path,
    -- What was recognised.
    kind,
    -- 'complete', 'begun' (whole, but it begins in the middle: the program ran before, or the ring of a snapshot's history
    -- was full), 'kept' (complete, but of events before detail_begin_seq only sums were kept, as was asked for), 'lossy'
    -- (events or processes are missing) or 'contradictory' (nothing is, but blocks lie in no segment). Without an end the
    -- word of input.state: 'running' (still being recorded: figures so far), 'killed' and 'unreadable', whatever else is
    -- missing; 'cut' and 'unseen', where nothing else is known to be.
    verdict,
    -- Events that happened. Unit: events.
    events_seen,
    -- Events that were loaded. Unit: events.
    events_ingested,
    -- Events lost in the program. Unit: events.
    events_dropped,
    -- Events lost in the file. Unit: events.
    events_damaged,
    -- Events lost in rings. Unit: events.
    events_unrecovered,
    -- Events with an uncertain place. Unit: events.
    events_late,
    -- Events whose stack was lost. Unit: events.
    events_without_stack,
    -- Bytes behind the last whole block. Unit: bytes.
    bytes_cut,
    -- Outstanding allocations that have no stack. Unit: allocations.
    outstanding_without_stack_count,
    -- Notes of what the recorder could not see: queries/unseen.sql. Unit: notes.
    note_count,
    -- Events of which only sums were kept. Unit: events.
    events_unkept,
    -- Place in the order of events from which on each event has its row. NULL: all of the recording.
    detail_begin_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: all of the recording.
    detail_begin_ns,
    -- What was live before the first event: none, known (it is here, as baseline) or unknown.
    baseline,
    -- Frees of memory that may have been allocated before the recording began. Unit: frees.
    unseen_origin_count,
    -- Which rows of single allocations, copies and calls are here: 'all', 'window', 'live' or 'none', as input.detail.
    detail,
    -- 1: the counts of lost events are exact; 0: more may be lost.
    is_loss_exact,
    -- Processes that could not join the recording, or used a device unrecorded: what they did is in no count. Unit: processes.
    processes_unjoined,
    -- Blocks that lie in no segment, as input.blocks_outside_count. Unit: blocks.
    blocks_outside_count,
    -- Outstanding allocations whose stack is cut: callers are missing (stack.is_cut). Unit: allocations.
    outstanding_stack_cut_count,
    -- Where detail is 'window': its first event. NULL: it is not.
    window_begin_seq,
    -- Its last event. NULL: detail is not 'window'.
    window_end_seq,
    -- When the first one was. Unit: nanoseconds since the recording began. NULL: detail is not 'window', or not known.
    window_begin_ns,
    -- When the first one behind it was. Unit: nanoseconds since the recording began. NULL: detail is not 'window', there is none, or
    -- its time is not known.
    window_end_ns
) AS
SELECT
    (SELECT CASE WHEN min(p.host) = max(p.host) THEN min(p.host) END FROM process AS p
     WHERE p.input_id = input.input_id),
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    input.path,
    input.kind,
    CASE
        WHEN input.is_complete = 1 AND input.detail_begin_seq IS NOT NULL THEN 'kept'
        WHEN input.is_complete = 1 AND input.baseline <> 'none' AND input.peak_basis <> 'none' THEN 'begun'
        WHEN input.is_complete = 1 THEN 'complete'
        WHEN input.state IN ('running', 'killed', 'unreadable') THEN input.state
        WHEN input.events_seen > input.events_ingested + input.events_unkept OR input.bytes_cut > 0 OR input.events_without_stack > 0
            OR input.unknown_reference_count > 0 OR input.is_loss_exact = 0
            OR (input.state IN ('ended', 'recovered') AND input.blocks_outside_count = 0) THEN 'lossy'
        WHEN input.blocks_outside_count > 0 THEN 'contradictory'
        ELSE input.state
    END,
    input.events_seen,
    input.events_ingested,
    input.events_dropped,
    input.events_damaged,
    input.events_unrecovered,
    input.events_late,
    input.events_without_stack,
    input.bytes_cut,
    (SELECT coalesce(sum(a.allocation_count), 0)
     FROM z_outstanding_birth AS a
     JOIN heap ON heap.heap_id = a.heap_id
     JOIN process AS p ON p.process_id = heap.process_id
     WHERE a.stack_id IS NULL AND p.input_id = input.input_id),
    (SELECT count(*) FROM z_note WHERE z_note.input_id = input.input_id),
    input.events_unkept,
    input.detail_begin_seq,
    input.detail_begin_ns,
    input.baseline,
    input.unseen_origin_count,
    input.detail,
    input.is_loss_exact,
    input.processes_unjoined,
    input.blocks_outside_count,
    (SELECT coalesce(sum(a.allocation_count), 0)
     FROM z_outstanding_birth AS a
     JOIN heap ON heap.heap_id = a.heap_id
     JOIN process AS p ON p.process_id = heap.process_id
     JOIN stack AS s ON s.stack_id = a.stack_id
     WHERE s.is_cut = 1 AND p.input_id = input.input_id),
    input.window_begin_seq,
    input.window_end_seq,
    input.window_begin_ns,
    input.window_end_ns
FROM input;
