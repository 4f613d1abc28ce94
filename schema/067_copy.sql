-- Sums over copies, so that no view has to walk all of them.

CREATE TABLE z_copy_sum (
    -- Copies of one place by device, direction and stream. Shown by the views copy_summary and
    -- zero_copy.
    --
    -- The process. NULL: not known.
    process_id INTEGER REFERENCES process (process_id),
    -- The device that is written, or else read. NULL: host memory on both sides, or not known.
    device_id INTEGER REFERENCES device (device_id),
    -- A code of copy_kind.
    kind INTEGER NOT NULL REFERENCES copy_kind (kind),
    -- 1: queued on a stream; 0: the call returned when it was done.
    is_async INTEGER NOT NULL,
    -- The stream. NULL: none, or not known.
    stream INTEGER,
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Copies. Unit: copies.
    copy_count INTEGER NOT NULL,
    -- Those that failed. Unit: copies.
    failed_count INTEGER NOT NULL,
    -- Bytes moved or set by those that did not. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- Time spent in the calls. Unit: nanoseconds. NULL: not known of any.
    cost_ns INTEGER,
    -- Bytes of those that were not asynchronous, did not fail and whose time is known. Unit: bytes.
    timed_bytes INTEGER NOT NULL,
    -- That time. Unit: nanoseconds.
    timed_ns INTEGER NOT NULL,
    -- Those between host and device that did not fail. Unit: copies.
    host_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    host_bytes INTEGER NOT NULL,
    -- Those of them whose host side was registered. Unit: copies.
    registered_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    registered_bytes INTEGER NOT NULL,
    -- Copies of what had been copied before, with the same source, size, direction and target device, and was neither
    -- written by a copy or memset nor freed since. Unit: copies.
    repeated_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    repeated_bytes INTEGER NOT NULL,
    -- Most that one source had been copied before, when it was copied here. Unit: copies.
    longest_count INTEGER NOT NULL,
    -- First address of that source; views show it as hexadecimal text. NULL: nothing was repeated.
    longest_address INTEGER,
    -- Size of that source. Unit: bytes. NULL: as before.
    longest_bytes INTEGER,
    -- Place in the order of events of that copy. NULL: as before.
    longest_seq INTEGER
);
