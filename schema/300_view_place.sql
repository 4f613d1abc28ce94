-- Where: one row per heap, the columns that every other view begins with; and what is missing from the answers.

CREATE VIEW z_heap_place (
    -- Every heap with the names of where it is. The other views begin with its first six columns.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process in a distributed job. NULL: none.
    rank,
    -- Process number of the operating system. NULL: not known.
    pid,
    -- Number of the device: the physical one where it is known, else as the process counts. NULL: host memory.
    device,
    -- Name of the heap.
    heap,
    -- A word of heap_level: driver, pool, workspace, pinned, registered, host, physical or imported.
    level,
    -- Number of the heap.
    heap_id,
    -- Number of the process.
    process_id,
    -- Number of the device. NULL: host memory.
    device_id,
    -- Which size the sums of this heap use: 'requested' or 'block'.
    size_basis,
    -- All memory of the device. Unit: bytes. NULL: not known.
    capacity_bytes,
    -- Number of the input that the process came from.
    input_id
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(device.physical_ordinal, device.ordinal),
    heap.name,
    heap_level.name,
    heap.heap_id,
    heap.process_id,
    heap.device_id,
    heap.size_basis,
    device.capacity_bytes,
    process.input_id
FROM heap
LEFT JOIN process ON process.process_id = heap.process_id
LEFT JOIN device ON device.device_id = heap.device_id
LEFT JOIN heap_level ON heap_level.level = heap.level;

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
    -- Which rows of single allocations, copies and calls are here: 'all', 'live' or 'none', as input.detail.
    detail,
    -- 1: the counts of lost events are exact; 0: more may be lost.
    is_loss_exact,
    -- Processes that could not join the recording, or used a device unrecorded: what they did is in no count. Unit: processes.
    processes_unjoined,
    -- Blocks that lie in no segment, as input.blocks_outside_count. Unit: blocks.
    blocks_outside_count,
    -- Outstanding allocations whose stack is cut: callers are missing (stack.is_cut). Unit: allocations.
    outstanding_stack_cut_count
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
     FROM z_outstanding_sum AS a
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
     FROM z_outstanding_sum AS a
     JOIN heap ON heap.heap_id = a.heap_id
     JOIN process AS p ON p.process_id = heap.process_id
     JOIN stack AS s ON s.stack_id = a.stack_id
     WHERE s.is_cut = 1 AND p.input_id = input.input_id)
FROM input;

CREATE VIEW z_unseen (
    -- What the recorder could not see, or saw in another way than usual, as it noted it: a row for each such thing of an
    -- input. The rest is as it should be.
    --
    -- Name of the machine. NULL: several, or not known.
    host,
    -- Rank of the process. NULL: none, or several processes.
    rank,
    -- Process number. NULL: not known, or several processes.
    pid,
    -- Always NULL: a note is not of one device.
    device,
    -- Always NULL: a note is not of one heap.
    heap,
    -- Always NULL: a note is not of one level.
    level,
    -- A word of z_note_kind: missing function, other tool, unseen library, unseen operator, no pool events, ...
    kind,
    -- What it is about: a function, a library, an operator or a reason. NULL: not known.
    text,
    -- How often it was noted. Unit: notes.
    note_count,
    -- How many such things one process met at most: text is the first of them. Unit: things.
    unseen_count,
    -- In how many processes. Unit: processes.
    process_count,
    -- Place of the first such note in the order of events.
    first_seq
) AS
SELECT
    CASE WHEN min(p.host) = max(p.host) THEN min(p.host) END,
    CASE WHEN count(DISTINCT n.process_id) = 1 THEN min(p.rank) END,
    CASE WHEN count(DISTINCT n.process_id) = 1 THEN min(p.pid) END,
    NULL,
    NULL,
    NULL,
    k.name,
    n.text,
    count(*),
    CASE WHEN n.kind = 4 THEN 1 + max(coalesce(n.count, 0)) ELSE max(max(coalesce(n.count, 1)), 1) END,
    count(DISTINCT n.process_id),
    min(n.seq)
FROM z_note AS n
JOIN z_note_kind AS k ON k.kind = n.kind
LEFT JOIN process AS p ON p.process_id = n.process_id
GROUP BY n.input_id, n.kind, n.text
ORDER BY n.input_id, n.kind, n.text;

CREATE VIEW z_allocation_kind (
    -- Which kinds of memory and pages each heap was asked for: device, physical and registered memory.
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
    -- Device memory: a word of z_malloc_policy and what else was asked for; physical and mapped memory: of z_memory_kind;
    -- registered memory: how. NULL: not known.
    kind,
    -- 1: mapped memory; 0: not.
    is_mapped,
    -- The number behind kind, as allocation.policy. NULL: not known.
    policy,
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count,
    -- Their size. Unit: bytes.
    allocated_bytes,
    -- Live at the end of the trace, segments and the baseline too. Unit: allocations.
    live_count,
    -- Their size. Unit: bytes.
    live_bytes
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    CASE
        WHEN s.policy IS NULL THEN NULL
        WHEN p.level = 'registered'
            THEN 'registered' || CASE WHEN s.policy & 2 THEN ' + mapped' ELSE '' END
            || CASE WHEN s.policy & 4 THEN ' + I/O memory' ELSE '' END
            || CASE WHEN s.policy & 8 THEN ' + read only' ELSE '' END
            || CASE WHEN s.policy & 268435456 THEN ' + pinned' ELSE '' END
        WHEN p.level = 'physical' OR s.is_mapped = 1
            THEN (SELECT k.name FROM z_memory_kind AS k WHERE k.kind = s.policy)
        ELSE
            (SELECT m.name FROM z_malloc_policy AS m WHERE m.policy = s.policy & 255)
            || CASE WHEN s.policy & 256 THEN ' + low bandwidth' ELSE '' END
            || CASE WHEN s.policy & 4096 THEN ' + high bandwidth' ELSE '' END
            || CASE WHEN s.policy & 1048576 THEN ' + read only' ELSE '' END
    END,
    s.is_mapped,
    s.policy,
    s.allocation_count,
    s.allocated_bytes,
    s.live_count,
    s.live_bytes
FROM z_allocation_kind_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
ORDER BY s.heap_id, s.allocated_bytes DESC, s.is_mapped, s.policy;

-- catalog: large, not in csv
CREATE VIEW stack_text (
    -- Each call stack as text, for whatever has a stack_id (allocation, leak) or a top_stack_id (leak_by_site, peak_by_site).
    --
    -- The stack.
    stack_id,
    -- How many frames it has, up to 4096. Unit: frames.
    depth,
    -- Its frames as views show them (frame.label), one a line, the innermost first; of more than 4096 those.
    text
) AS
SELECT
    s.stack_id,
    (
        WITH RECURSIVE up (parent_id, depth) AS (
            SELECT
                s.parent_id,
                1
            UNION ALL
            SELECT
                p.parent_id,
                up.depth + 1
            FROM up
            JOIN stack AS p ON p.stack_id = up.parent_id
            WHERE up.depth < 4096
        )
        SELECT max(up.depth)
        FROM up
    ),
    (
        WITH RECURSIVE up (frame_id, parent_id, depth) AS (
            SELECT
                s.frame_id,
                s.parent_id,
                1
            UNION ALL
            SELECT
                p.frame_id,
                p.parent_id,
                up.depth + 1
            FROM up
            JOIN stack AS p ON p.stack_id = up.parent_id
            WHERE up.depth < 4096
        )
        SELECT group_concat(lines.label, char(10))
        FROM (
            SELECT coalesce(f.label, '??') AS label
            FROM up
            LEFT JOIN frame AS f ON f.frame_id = up.frame_id
            ORDER BY up.depth
        ) AS lines
    )
FROM stack AS s;
