-- Devices, as each process sees them.

CREATE TABLE device (
    -- One device as one process sees it.
    --
    -- Number of the device in this database.
    device_id INTEGER PRIMARY KEY,
    -- The process that uses it.
    process_id INTEGER REFERENCES process (process_id),
    -- Number by which the process calls it.
    ordinal INTEGER,
    -- Number in the host. NULL: not known.
    physical_ordinal INTEGER,
    -- 'npu', 'gpu'. NULL: not known.
    kind TEXT,
    -- Model. NULL: not known.
    name TEXT,
    -- All its memory. Unit: bytes. NULL: not known.
    capacity_bytes INTEGER
);
