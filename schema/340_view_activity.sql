-- Copies, failures and misuse, in words.

-- catalog: not counted
CREATE VIEW zero_copy (
    -- Share of the transfers between host and device whose host side is registered with the device, so that it could be
    -- used where it is. Good > 80, warning 50 to 80, danger < 50 % of the bytes.
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
    -- Always NULL: a copy is not of one heap.
    heap,
    -- Always NULL: a copy is not of one level.
    level,
    -- Transfers between host and device that did not fail. Unit: copies.
    copy_count,
    -- What they moved. Unit: bytes.
    size_bytes,
    -- Those of them whose host side is registered. Unit: copies.
    registered_count,
    -- What those moved. Unit: bytes.
    registered_bytes,
    -- registered_bytes / size_bytes. Unit: ratio (0 to 1). NULL: nothing was moved.
    zero_copy_ratio,
    -- 'good', 'warning' or 'danger'; 'minor': not good, and below floor_bytes; 'not applicable': the process has registered
    -- no memory; 'unknown' where is_partial is 1. NULL: nothing was moved.
    verdict,
    -- Ranges of host memory that the process registered with a device. Unit: ranges.
    range_count,
    -- Most of it that was registered at one time. Unit: bytes.
    range_peak_bytes,
    -- Still registered at the end of the trace. Unit: bytes.
    range_live_bytes,
    -- 1: something of the recording was lost, or not kept, or what was registered before it is not known, so that nothing
    -- is claimed; 0: all is here.
    is_partial,
    -- As much has to be copied without need for a warning: of npumem-ingest --threshold, at least its share of the device. Unit: bytes.
    floor_bytes
) AS
SELECT
    process.host, process.rank, process.pid, g.device,
    NULL,
    NULL,
    g.copy_count,
    g.size_bytes,
    g.registered_count,
    g.registered_bytes,
    CASE WHEN g.size_bytes > 0 THEN CAST(g.registered_bytes AS REAL) / g.size_bytes END,
    CASE
        WHEN g.size_bytes = 0 THEN NULL
        WHEN g.is_partial THEN 'unknown'
        WHEN coalesce(r.range_count, 0) = 0 AND g.registered_count = 0 THEN 'not applicable'
        WHEN g.registered_bytes > 0.8 * g.size_bytes THEN 'good'
        WHEN g.size_bytes - g.registered_bytes < g.floor_bytes THEN 'minor'
        WHEN g.registered_bytes >= 0.5 * g.size_bytes THEN 'warning'
        ELSE 'danger'
    END,
    coalesce(r.range_count, 0),
    coalesce(r.peak_bytes, 0),
    coalesce(r.live_bytes, 0),
    g.is_partial,
    g.floor_bytes
FROM (
    SELECT
        c.process_id,
        coalesce(d.physical_ordinal, d.ordinal) AS device,
        max(min(t.floor), CAST(min(t.capacity_ratio) * coalesce(max(d.capacity_bytes), 0) AS INTEGER)) AS floor_bytes,
        sum(c.host_count) AS copy_count,
        sum(c.host_bytes) AS size_bytes,
        sum(c.registered_count) AS registered_count,
        sum(c.registered_bytes) AS registered_bytes,
        coalesce(
            (
                SELECT
                    i.events_seen > i.events_ingested + i.events_unkept OR i.is_loss_exact = 0 OR i.bytes_cut > 0
                        OR i.unknown_reference_count > 0 OR i.detail_begin_seq IS NOT NULL OR i.baseline = 'unknown'
                        OR EXISTS (SELECT 1 FROM z_pause AS w WHERE w.process_id = q.process_id)
                FROM process AS q
                JOIN input AS i ON i.input_id = q.input_id
                WHERE q.process_id = c.process_id
            ),
            0
        ) AS is_partial
    FROM z_copy_sum AS c
    LEFT JOIN device AS d ON d.device_id = c.device_id
    JOIN z_threshold AS t ON t.measure = 'zero copy'
    WHERE c.host_count > 0
    GROUP BY c.process_id, coalesce(d.physical_ordinal, d.ordinal)
) AS g
LEFT JOIN (
    SELECT
        heap.process_id,
        sum(s.allocation_count + s.baseline_count) AS range_count,
        sum(s.peak_bytes) AS peak_bytes,
        sum(s.live_bytes) AS live_bytes
    FROM heap
    JOIN z_heap_sum AS s ON s.heap_id = heap.heap_id
    WHERE heap.level = 5
    GROUP BY heap.process_id
) AS r ON r.process_id = g.process_id
LEFT JOIN process ON process.process_id = g.process_id
ORDER BY g.process_id, g.device;

-- catalog: first 9
CREATE VIEW misuse (
    -- Anomalies in words: wrong frees, copies past the end, use after free. Nothing is said of what lies behind a loss,
    -- of memory that was there before the recording began, and of what a pause may have changed unseen. Overlaps are
    -- looked for inside of a level: a pool's blocks lie in its segment, and pools in blocks of pools. Padding beyond
    -- what was asked for is nobody's, but a copy that reaches into it has left its block; the whole of a segment, or a
    -- block cleared with its padding, is the pool's own doing. A copy that was queued is judged by blocks of a pool
    -- only if its own thread allocated or freed them: for another one it may have been queued before.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: host memory, or not known.
    device,
    -- Name of the heap. NULL: not known.
    heap,
    -- Level of the heap. NULL: not known.
    level,
    -- Number of the anomaly.
    anomaly_id,
    -- What went wrong.
    kind,
    -- Place in the order of events.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- The thread: its name, else its number. NULL: not known.
    thread,
    -- Where, hexadecimal: the address that the free names, the first that the copy names on its wrong side, the first that
    -- two blocks share; of a stream its number. NULL: not known.
    address,
    -- How much: what the copy names on that side, the block that a wrong call frees, what two blocks share. Unit: bytes.
    -- NULL: no size is part of it.
    size_bytes,
    -- The allocation that it is about. NULL: none.
    allocation_id,
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- Where the other half happened. Double free, use after free: who freed it first. Copy past the end, overlap, wrong free
    -- call: who allocated what is there. Frees, unmaps and unregisters of unknown memory: who allocated, registered or
    -- freed what lies around the address (see detail). NULL: no stack was recorded; a kind with no other half (zero size, a
    -- stream never destroyed, memory that never was); or the free is too long ago: the last 131072 addresses and 16384
    -- ranges of device memory that were freed are remembered.
    other_site,
    -- One line of explanation. NULL: none.
    detail,
    -- Number of the whole stack. NULL: none was recorded.
    stack_id
) AS
SELECT
    process.host, process.rank, process.pid, p.device, p.heap, p.level,
    a.anomaly_id,
    k.name,
    a.seq,
    a.ns,
    coalesce(t.name, CAST(t.tid AS TEXT)),
    CASE WHEN a.address IS NOT NULL THEN printf('0x%x', a.address) END,
    a.size_bytes,
    a.allocation_id,
    coalesce(f.label, '(no stack)'),
    f2.label,
    a.detail,
    a.stack_id
FROM anomaly AS a
JOIN anomaly_kind AS k ON k.kind = a.kind
LEFT JOIN process ON process.process_id = a.process_id
LEFT JOIN z_heap_place AS p ON p.heap_id = a.heap_id
LEFT JOIN thread AS t ON t.thread_id = a.thread_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN stack AS s2 ON s2.stack_id = a.other_stack_id
LEFT JOIN frame AS f2 ON f2.frame_id = s2.site_frame_id
ORDER BY a.anomaly_id;

CREATE VIEW z_graph_memory (
    -- Graphs (captured work of a stream, which the program executes later) and what each of them holds: what was born in its
    -- capture has to stay until it is destroyed, and is no leak before. Captures that failed are left out. In order.
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
    -- Always NULL: a graph may hold memory of several heaps.
    heap,
    -- Always NULL: likewise.
    level,
    -- Number of the graph.
    graph_id,
    -- Where its capture began: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- When its capture began. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns,
    -- How long the capture took. Unit: nanoseconds. NULL: not known, or its end was not seen.
    capture_ns,
    -- How often the program executed it. Unit: executions.
    execute_count,
    -- 'lives' (to the end), 'destroyed', 'reset' (its device was).
    end_kind,
    -- Driver memory that was allocated or mapped in its capture and was still there when it was destroyed or reset, or at the
    -- end: what it takes of the device. Segments of pools too; one in which other graphs have blocks counts for the graph in
    -- whose capture it came. Unit: bytes.
    driver_bytes,
    -- The same of blocks of pools and of workspaces; they lie in such memory, or in older segments. Unit: bytes.
    block_bytes,
    -- The same of pinned memory. Unit: bytes.
    host_bytes,
    -- Where its capture began, the whole stack. NULL: none was recorded.
    stack_id
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(device.physical_ordinal, device.ordinal),
    NULL,
    NULL,
    g.graph_id,
    coalesce(f.label, '(no stack)'),
    g.begin_ns,
    g.end_ns - g.begin_ns,
    g.execute_count,
    g.end_kind,
    g.driver_bytes,
    g.block_bytes,
    g.host_bytes,
    g.stack_id
FROM z_graph AS g
JOIN process ON process.process_id = g.process_id
LEFT JOIN device ON device.device_id = g.device_id
LEFT JOIN stack AS s ON s.stack_id = g.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
WHERE g.end_kind <> 'failed'
ORDER BY g.graph_id;
