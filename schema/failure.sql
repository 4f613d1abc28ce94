-- Allocations that failed.

CREATE TABLE failure (
    -- An allocation that failed; or a stream or an event that could not be made for want of resources.
    --
    -- Number of the failure in this database.
    failure_id INTEGER PRIMARY KEY,
    -- The heap that was asked. NULL: not known.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The thread that asked. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- The operation that it was part of. NULL: none.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Stream. NULL: not known.
    stream INTEGER,
    -- Place in the order of events.
    seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- What was asked for. Unit: bytes. 0: a stream or an event.
    requested_bytes INTEGER,
    -- Code that the runtime returned: 207001 is out of memory. NULL: not known.
    error_code INTEGER,
    -- Free memory of the device just after. Unit: bytes. NULL: not known.
    device_free_bytes INTEGER,
    -- All memory of the device. Unit: bytes. NULL: not known.
    device_total_bytes INTEGER
);
