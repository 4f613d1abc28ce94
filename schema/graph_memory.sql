-- What graphs hold.

CREATE TABLE z_graph (
    -- A graph of the program: work of a stream that was captured, to be executed later. What was born in the capture is held
    -- by it until it is destroyed. Shown by the view z_graph_memory.
    --
    -- Number of the graph.
    graph_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- The device of the stream. NULL: not known.
    device_id INTEGER REFERENCES device (device_id),
    -- The thread that captured it last. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Where its capture began. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The stream that was captured.
    stream INTEGER NOT NULL,
    -- Place in the order of events at which its capture began.
    begin_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns INTEGER,
    -- Place at which its capture ended. NULL: that was not seen.
    end_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known, or not seen.
    end_ns INTEGER,
    -- 'lives' (to the end), 'destroyed', 'reset' (its device was), 'failed' (its capture: there never was a graph).
    end_kind TEXT NOT NULL,
    -- Place at which it was destroyed, or its device reset; of a capture that failed its end. NULL: it lived to the end.
    destroyed_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known, or it lived to the end.
    destroyed_ns INTEGER,
    -- How often the program executed it. Unit: executions.
    execute_count INTEGER NOT NULL,
    -- Place of the last of these. NULL: there was none.
    last_execute_seq INTEGER,
    -- Driver memory that was allocated or mapped in its capture and was still there when it was destroyed, or at the end;
    -- segments of pools too. Unit: bytes.
    driver_bytes INTEGER NOT NULL,
    -- The same of blocks of pools and of workspaces; they lie in such memory, or in older segments. Unit: bytes.
    block_bytes INTEGER NOT NULL,
    -- The same of pinned memory. Unit: bytes.
    host_bytes INTEGER NOT NULL
);

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
