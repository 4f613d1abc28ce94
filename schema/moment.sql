-- The moments at which the state is described.

CREATE TABLE z_moment_kind (
    -- Words for moment.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- peak: of a heap; end: of the trace; mark: set by the program; failure: of an allocation; device peak: of all driver
    -- memory of a device, as in view device_peak; reserve: a pool held the most that it ever did, once the request that it grew
    -- for was served. Where it held as much at its peak that is the moment, and there is no other.
    name TEXT NOT NULL
);

INSERT INTO z_moment_kind VALUES (1, 'peak'), (2, 'end'), (3, 'mark'), (4, 'failure'), (5, 'device peak'), (6, 'reserve');

CREATE TABLE moment (
    -- A point in the order of events at which the state is described.
    --
    -- Number of the moment.
    moment_id INTEGER PRIMARY KEY,
    -- 1: the peak of a heap; 2: the end of the trace; 3: a mark; 4: a failed allocation; 5: the peak of all driver memory of a
    -- device, as in view device_peak; 6: a pool held most, which was not at its peak.
    kind INTEGER NOT NULL REFERENCES z_moment_kind (kind),
    -- Text of a mark. NULL: not a mark.
    name TEXT,
    -- The process that it belongs to. NULL: all, or a device's peak.
    process_id INTEGER REFERENCES process (process_id),
    -- The heap whose peak it is, that held most, or that failed. NULL: all.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The failed allocation. NULL: not a failure.
    failure_id INTEGER REFERENCES failure (failure_id),
    -- Place in the order of events: the state is that right after this event. NULL: before the first event.
    seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- The device whose peak it is, as the first process that used it sees it. NULL: not a device's peak.
    device_id INTEGER REFERENCES device (device_id),
    -- The input that it came from.
    input_id INTEGER NOT NULL REFERENCES input (input_id)
);

CREATE INDEX moment_heap ON moment (heap_id);
