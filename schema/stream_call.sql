-- Calls about streams.

CREATE TABLE z_stream_call_kind (
    -- Words for stream_call.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- What was asked for.
    name TEXT NOT NULL
);

INSERT INTO z_stream_call_kind VALUES
    (0, 'other'), (1, 'create stream'), (2, 'destroy stream'), (3, 'synchronize stream'), (4, 'synchronize device'),
    (5, 'wait for event'), (6, 'create event'), (7, 'destroy event'), (8, 'record event'), (9, 'synchronize event'),
    (10, 'reset event'), (11, 'register allocator'), (12, 'unregister allocator'), (13, 'begin capture'),
    (14, 'end capture'), (15, 'execute graph'), (16, 'destroy graph'), (17, 'create notify'),
    (18, 'destroy notify'), (19, 'create context'), (20, 'destroy context');

-- catalog: row an event
CREATE TABLE z_stream_call (
    -- One call about streams, or what is made for them. A large table: integers only.
    --
    -- Number of the call.
    stream_call_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- The thread that made it. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- The operation that it was part of. NULL: none.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The device. NULL: not known.
    device_id INTEGER REFERENCES device (device_id),
    -- A code of z_stream_call_kind.
    kind INTEGER NOT NULL REFERENCES z_stream_call_kind (kind),
    -- The stream. NULL: none, or not known.
    stream INTEGER,
    -- The handle of the event, graph, notify or context. NULL: none, or not known.
    event INTEGER,
    -- Place in the order of events.
    seq INTEGER,
    -- When the call was made. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- How long it took; of a synchronisation the time waited. Unit: nanoseconds. NULL: not known.
    cost_ns INTEGER,
    -- What the runtime returned: 0 is success. NULL: not known.
    error_code INTEGER
);

CREATE TABLE z_stream_call_sum (
    -- Calls about streams of one process, by device, kind and stream. Shown by queries/stream_call_total.sql.
    --
    -- The process. NULL: not known.
    process_id INTEGER REFERENCES process (process_id),
    -- The device. NULL: not known.
    device_id INTEGER REFERENCES device (device_id),
    -- A code of z_stream_call_kind.
    kind INTEGER NOT NULL REFERENCES z_stream_call_kind (kind),
    -- The stream. NULL: none, or not known.
    stream INTEGER,
    -- Calls. Unit: calls.
    call_count INTEGER NOT NULL,
    -- Time spent in them. Unit: nanoseconds. NULL: not known.
    cost_ns INTEGER,
    -- Calls that failed. Unit: calls.
    error_count INTEGER NOT NULL
);
