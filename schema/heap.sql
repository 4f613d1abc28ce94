-- Where memory comes from; and the columns that every other view begins with.

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

CREATE TABLE heap (
    -- A source of allocations in one process on one device.
    --
    -- Number of the heap in this database.
    heap_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- Its device. NULL: host memory.
    device_id INTEGER REFERENCES device (device_id),
    -- What kind of memory it hands out: a code of heap_level.
    level INTEGER REFERENCES heap_level (level),
    -- Name.
    name TEXT,
    -- Which size the sums of this heap use: 'requested' or 'block'.
    size_basis TEXT,
    -- Requests below it are small. Unit: bytes.
    small_bytes INTEGER NOT NULL,
    -- Requests above it are large. Unit: bytes.
    large_bytes INTEGER NOT NULL,
    -- Which module of CANN takes this memory from the driver: by CANN's own number. The heap has its name. NULL: the
    -- program itself, or not known.
    module_id INTEGER
);

CREATE INDEX heap_device ON heap (device_id);

CREATE VIEW z_heap_place (
    -- Every heap with the names of where it is. The other views begin with its first six columns.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process in a distributed job. NULL: none.
    rank,
    -- Process number of the operating system. NULL: not known.
    pid,
    -- Number of the device: the physical one where it is known, else as the process counts. NULL: host memory.
    device,
    -- Name of the heap.
    heap,
    -- A word of heap_level: driver, pool, workspace, pinned, registered, host, physical or imported.
    level,
    -- Number of the heap.
    heap_id,
    -- Number of the process.
    process_id,
    -- Number of the device. NULL: host memory.
    device_id,
    -- Which size the sums of this heap use: 'requested' or 'block'.
    size_basis,
    -- All memory of the device. Unit: bytes. NULL: not known.
    capacity_bytes,
    -- Number of the input that the process came from.
    input_id
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(device.physical_ordinal, device.ordinal),
    heap.name,
    heap_level.name,
    heap.heap_id,
    heap.process_id,
    heap.device_id,
    heap.size_basis,
    device.capacity_bytes,
    process.input_id
FROM heap
LEFT JOIN process ON process.process_id = heap.process_id
LEFT JOIN device ON device.device_id = heap.device_id
LEFT JOIN heap_level ON heap_level.level = heap.level;
