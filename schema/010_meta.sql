-- What the database itself is, where its rows came from, and the words for the codes that large tables hold.

CREATE TABLE meta (
    -- Facts about the database itself, one a row.
    --
    -- Name of the fact: schema_version, tool, tool_version.
    key TEXT PRIMARY KEY,
    -- Its value, as text.
    value TEXT NOT NULL
);

CREATE TABLE input (
    -- One file that was loaded, and how much of what happened it still held. Read this before any other table:
    -- events_seen = events_ingested + events_dropped + events_damaged + events_unrecovered.
    --
    -- Number of the input, from 1.
    input_id INTEGER PRIMARY KEY,
    -- The file as it was named; '-' is standard input.
    path TEXT NOT NULL,
    -- What was recognised: 'trace', 'torch snapshot', ...
    kind TEXT NOT NULL,
    -- Wall clock of time 0. Unit: nanoseconds since 1970. NULL: not known.
    start_realtime_ns INTEGER,
    -- What the order of events (seq) follows: 'clock' or 'file'.
    order_kind TEXT NOT NULL,
    -- 1: nothing was lost and the recording was ended properly; 0: some of it is missing.
    is_complete INTEGER NOT NULL,
    -- Events that happened, as far as the input knows. Unit: events.
    events_seen INTEGER NOT NULL,
    -- Events that were loaded. Unit: events.
    events_ingested INTEGER NOT NULL,
    -- Events lost in the program, because a ring was full. Unit: events.
    events_dropped INTEGER NOT NULL,
    -- Events lost in the file, in parts that could not be read. Unit: events.
    events_damaged INTEGER NOT NULL,
    -- Events known to have been in a ring that could not be read. Unit: events.
    events_unrecovered INTEGER NOT NULL,
    -- Events that were loaded but whose place in the order is not certain. Unit: events.
    events_late INTEGER NOT NULL,
    -- Bytes at the end of the file that belong to no whole block. Unit: bytes.
    bytes_cut INTEGER NOT NULL,
    -- Events that were loaded but whose stack was lost with a damaged part. Unit: events.
    events_without_stack INTEGER NOT NULL,
    -- 1: the recorder wrote its last block, or the file is whole by itself; 0: the recording was cut off.
    is_finished INTEGER NOT NULL,
    -- References to a process, thread, heap or stack that the input never defined; such cells are NULL. Unit:
    -- references.
    unknown_reference_count INTEGER NOT NULL,
    -- First place in the order of events. NULL: no events.
    first_seq INTEGER,
    -- Last place in the order of events. NULL: no events.
    last_seq INTEGER
);

CREATE TABLE heap_level (
    -- Words for heap.level.
    --
    -- Code.
    level INTEGER PRIMARY KEY,
    -- driver: handed out by the runtime; pool: cut from driver memory by a framework or by CANN; workspace; pinned: host
    -- memory for transfer; registered: host memory that the device may reach; host; physical: device memory by its
    -- handle, mapped (then driver memory counts it too) or not; imported: memory of another process.
    name TEXT NOT NULL
);
INSERT INTO heap_level VALUES
    (1, 'driver'), (2, 'pool'), (3, 'workspace'), (4, 'pinned'), (5, 'registered'), (6, 'host'),
    (7, 'physical'), (8, 'imported');

CREATE TABLE end_kind (
    -- Words for allocation.end_kind: how an allocation ended.
    --
    -- Code.
    end_kind INTEGER PRIMARY KEY,
    -- none: never, in this trace; freed; unmapped; reset: the device was reset; replaced: something else was allocated
    -- at its address, so its free was not seen.
    name TEXT NOT NULL
);
INSERT INTO end_kind VALUES (0, 'none'), (1, 'freed'), (2, 'unmapped'), (3, 'reset'), (4, 'replaced');

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

CREATE TABLE operation_kind (
    -- Words for operation.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- range: set by the program; operator; annotation: of a framework.
    name TEXT NOT NULL
);
INSERT INTO operation_kind VALUES (0, 'range'), (1, 'operator'), (2, 'annotation');

CREATE TABLE moment_kind (
    -- Words for moment.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- peak: of a heap; end: of the trace; mark: set by the program; failure: of an allocation.
    name TEXT NOT NULL
);
INSERT INTO moment_kind VALUES (1, 'peak'), (2, 'end'), (3, 'mark'), (4, 'failure');

CREATE TABLE memory_kind (
    -- Words for memory_sample.kind.
    --
    -- Code: aclrtMemAttr; from 100 on host memory of a process.
    kind INTEGER PRIMARY KEY,
    -- The kind of device memory, and of its pages; or which host memory: resident (all of it), anonymous (heaps and
    -- stacks), shared, stack (the main thread's).
    name TEXT NOT NULL
);
INSERT INTO memory_kind VALUES
    (0, 'DDR'), (1, 'HBM'), (2, 'DDR huge pages'), (3, 'DDR normal pages'), (4, 'HBM huge pages'),
    (5, 'HBM normal pages'), (6, 'DDR huge pages for P2P'), (7, 'DDR normal pages for P2P'),
    (8, 'HBM huge pages for P2P'), (9, 'HBM normal pages for P2P'), (10, 'HBM 1 GiB pages'),
    (11, 'HBM 1 GiB pages for P2P'), (12, 'normal pages'), (13, 'huge pages'), (14, '1 GiB pages'),
    (15, 'normal pages for P2P'), (16, 'huge pages for P2P'), (17, '1 GiB pages for P2P'), (100, 'host resident'),
    (101, 'host anonymous'), (102, 'host shared'), (103, 'host stack');

CREATE TABLE anomaly_kind (
    -- Words for anomaly.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- What went wrong.
    name TEXT NOT NULL
);
INSERT INTO anomaly_kind VALUES
    (1, 'free of unknown memory'), (2, 'double free'), (3, 'wrong free call'), (4, 'copy past the end'),
    (5, 'use after free'), (6, 'overlapping allocation'), (7, 'unmap of unknown memory');

CREATE TABLE pool_bucket (
    -- Words for pool_hit.bucket.
    --
    -- Code, by requested size.
    bucket INTEGER PRIMARY KEY,
    -- small: below 4 KiB; medium; large: above 1 MiB; unless the pool was declared with other bounds.
    name TEXT NOT NULL
);
INSERT INTO pool_bucket VALUES (0, 'small'), (1, 'medium'), (2, 'large');
