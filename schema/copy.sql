-- Every copy.

CREATE TABLE copy_kind (
    -- Words for copy.kind.
    --
    -- Code: aclrtMemcpyKind, and 100 for a memset.
    kind INTEGER PRIMARY KEY,
    -- The direction.
    name TEXT NOT NULL
);

INSERT INTO copy_kind VALUES
    (0, 'host to host'), (1, 'host to device'), (2, 'device to host'), (3, 'device to device'), (4, 'default'),
    (5, 'host to buffer to device'), (6, 'inside the device'), (7, 'between devices'), (100, 'memset');

-- catalog: large, row an event
CREATE TABLE copy (
    -- One transfer or memset. A large table: integers only.
    --
    -- Number of the copy.
    copy_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- The thread that asked for it. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- The operation that it was part of. NULL: none.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- A code of copy_kind.
    kind INTEGER NOT NULL REFERENCES copy_kind (kind),
    -- Stream that it was queued on. NULL: none, or not known.
    stream INTEGER,
    -- 1: queued on a stream; 0: the call returned when it was done.
    is_async INTEGER NOT NULL,
    -- Place in the order of events.
    seq INTEGER,
    -- When the call was made. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- How long the call took; of an asynchronous copy only the queueing. Unit: nanoseconds. NULL: not known.
    cost_ns INTEGER,
    -- Bytes moved or set. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- Room at the target, as the caller stated. Unit: bytes. NULL: not known.
    limit_bytes INTEGER,
    -- First address read. NULL: a memset.
    source_address INTEGER,
    -- First address written.
    target_address INTEGER,
    -- Device that is read. NULL: host memory, or not known.
    source_device_id INTEGER REFERENCES device (device_id),
    -- Device that is written. NULL: host memory, or not known.
    target_device_id INTEGER REFERENCES device (device_id),
    -- What the runtime returned: 0 is success.
    error_code INTEGER NOT NULL,
    -- 1: its host side lay in memory that was registered with the device then, so that the device could have used it
    -- where it was; 0: not. NULL: it is no copy between host and device, or its direction is not known.
    is_registered INTEGER
);
