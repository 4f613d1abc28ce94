-- What health is judged by.

CREATE TABLE z_threshold (
    -- How much there must be of a measure of view health before it is called a warning or a danger: below, it is 'minor'.
    -- npumem-ingest --threshold sets them.
    --
    -- As health.measure.
    measure TEXT PRIMARY KEY,
    -- The floor. Unit: as the column unit says.
    floor INTEGER NOT NULL,
    -- The floor is at least so much of the device's capacity, where that is known. Unit: 0 to 1.
    capacity_ratio REAL NOT NULL,
    -- 'bytes' (unused, or copied), 'ns' (of all calls) or 'requests' (after the warm-up).
    unit TEXT NOT NULL
);

INSERT INTO z_threshold VALUES
    ('allocation cost', 100000000, 0, 'ns'),
    ('fragmentation', 67108864, 0.01, 'bytes'),
    ('pool hit rate', 100, 0, 'requests'),
    ('zero copy', 67108864, 0.01, 'bytes');
