-- Where things happen: processes, threads, devices and heaps.

CREATE TABLE process (
    -- One process of the recorded tree.
    --
    -- Number of the process in this database.
    process_id INTEGER PRIMARY KEY,
    -- The input that it came from.
    input_id INTEGER NOT NULL REFERENCES input (input_id),
    -- The process that started it. NULL: not recorded.
    parent_id INTEGER REFERENCES process (process_id),
    -- Process number of the operating system. NULL: not known.
    pid INTEGER,
    -- Name of the machine. NULL: not known.
    host TEXT,
    -- Rank of the process in a distributed job; where no process of the input says one, that of the file's name
    -- (snapshot_rank3.pickle). NULL: none.
    rank INTEGER,
    -- Rank among the processes of this host. NULL: none.
    local_rank INTEGER,
    -- Arguments, joined by spaces. NULL: not known.
    command TEXT,
    -- 'host' or 'device': on which side the program ran. NULL: not known.
    run_mode TEXT,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns INTEGER,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known, or it still ran.
    end_ns INTEGER,
    -- 'exit', 'signal', 'exec' (it became another program) or 'running' (its end was not seen).
    end_kind TEXT NOT NULL,
    -- Exit status, or number of the signal. NULL: not known.
    end_status INTEGER,
    -- Number of processes in the distributed job. NULL: not known.
    world_size INTEGER
);

CREATE TABLE thread (
    -- One thread of a process.
    --
    -- Number of the thread in this database.
    thread_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- Thread number of the operating system. NULL: not known.
    tid INTEGER,
    -- Name. NULL: it has none.
    name TEXT
);

CREATE TABLE z_process_environment (
    -- What a process was told, and what it ran on: settings that change how its memory behaves.
    --
    -- Number of the entry in this database.
    entry_id INTEGER PRIMARY KEY,
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- 'environment': a variable of a fixed list, as it was when the process recorded its first event (see
    -- docs/recorder.md); 'version': what it ran on, as files of the host say; 'hccl': a communicator that it made.
    source TEXT NOT NULL,
    -- Name of the variable, of what has the version; of a communicator what it is for.
    name TEXT,
    -- Its value; of a communicator the process's rank in it and how many it has, 'rank 1 of 4'.
    value TEXT
);

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
