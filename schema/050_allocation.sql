-- Every allocation, copy, workspace and call about streams.

-- catalog: large, row an event
CREATE TABLE allocation (
    -- One allocation, from its birth to its end. The largest table: integers only.
    --
    -- Number of the allocation.
    allocation_id INTEGER PRIMARY KEY,
    -- The heap that it came from.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The driver allocation that carries it. NULL: not a block of a pool, or not known.
    segment_id INTEGER REFERENCES allocation (allocation_id),
    -- The thread that allocated it. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- The operation that it was part of, or whose workspace it was: operation_source says how that is known. NULL: not
    -- known, or none.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- Where it was allocated. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Stream that it was allocated for. NULL: not known.
    stream INTEGER,
    -- Driver memory: aclrtMemMallocPolicy, whose lowest byte is which pages; physical memory, and driver memory with
    -- is_mapped: aclrtMemAttr; registered memory: the flags of the registration. View allocation_detail has the words. NULL: not known, or another level.
    policy INTEGER,
    -- First address; views show it as hexadecimal text.
    address INTEGER NOT NULL,
    -- Size by the size_basis of its heap: what all sums use. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- What was asked for. Unit: bytes. NULL: not known.
    requested_bytes INTEGER,
    -- What was handed out. Unit: bytes. NULL: not known.
    block_bytes INTEGER,
    -- Place of its birth in the order of events; of a remainder that of the cut. NULL: it was there before the
    -- recording began (baseline), or before input.detail_begin_seq (then alloc_ns, stack_id and generation are known).
    alloc_seq INTEGER,
    -- When it was born. Unit: nanoseconds since the recording began. NULL: not known.
    alloc_ns INTEGER,
    -- How long the call took. Unit: nanoseconds. NULL: not known.
    cost_ns INTEGER,
    -- Place at which the program gave it up while another stream still used it. NULL: that did not happen.
    free_requested_seq INTEGER,
    -- Place of its end in the order of events. NULL: never freed.
    free_seq INTEGER,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known, or never freed.
    free_ns INTEGER,
    -- The thread that freed it. NULL: not known, or never freed.
    free_thread_id INTEGER REFERENCES thread (thread_id),
    -- Where it was freed. NULL: no stack was recorded, or never freed.
    free_stack_id INTEGER REFERENCES stack (stack_id),
    -- How it ended: a code of end_kind; 0 is not at all.
    end_kind INTEGER NOT NULL REFERENCES end_kind (end_kind),
    -- Live bytes of its heap right after its birth. Unit: bytes.
    live_bytes INTEGER,
    -- 1: the pool had to grow for it; 0: the pool served it by itself. NULL: the question has no sense (not a pool).
    is_miss INTEGER,
    -- The allocation of which this is what a cut in the middle left over. NULL: it is no remainder.
    split_from_id INTEGER REFERENCES allocation (allocation_id),
    -- 1: driver memory that carried a pool's blocks (a segment), or physical memory that lies under a mapping at the end;
    -- 0: not.
    is_segment INTEGER NOT NULL,
    -- 1: its end may lie where events were lost, so it is never called a leak; 0: not.
    is_doubtful INTEGER NOT NULL,
    -- When it was born, coarsely: in which step (0: before the first) or, where steps are unknown, in which twentieth
    -- of the trace (0 to 19); in a snapshot of several devices, of that of its device. NULL: it is not
    -- outstanding: it ended in this trace (other than by a reset after which nothing was allocated on its device), or it is
    -- (a remainder of) the baseline.
    generation INTEGER,
    -- Private pool of the framework that it belongs to. NULL: none known.
    private_pool INTEGER,
    -- How operation_id is known: a code of operation_source. NULL: it is not known.
    operation_source INTEGER REFERENCES z_operation_source (operation_source),
    -- 1: other processes may open it; 0: that was not seen.
    is_exported INTEGER NOT NULL,
    -- 1: physical memory that was mapped, and can be unmapped in part; 0: not.
    is_mapped INTEGER NOT NULL,
    -- The graph in whose capture it was born. NULL: in none.
    graph_id INTEGER REFERENCES z_graph (graph_id),
    -- What it is for. NULL: not known.
    category_id INTEGER REFERENCES z_category (category_id)
);

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

-- catalog: row an event
CREATE TABLE workspace (
    -- One run of an operator that was given a workspace. A large table: integers only.
    --
    -- Number of the row.
    workspace_id INTEGER PRIMARY KEY,
    -- The operator.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- The block that the workspace lay in, whole. NULL: no recorded block held it, or another thread ran the operator
    -- than allocated the block and it is not certain that this is still the one.
    allocation_id INTEGER REFERENCES allocation (allocation_id),
    -- The thread that ran the operator. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Stream that it ran on. NULL: not known.
    stream INTEGER,
    -- Place of the operator's begin in the order of events.
    seq INTEGER,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- First address of the workspace; views show it as hexadecimal text.
    address INTEGER,
    -- What the operator was given. Unit: bytes.
    requested_bytes INTEGER NOT NULL,
    -- Size of the block. Unit: bytes. NULL: the block is not known.
    block_bytes INTEGER,
    -- 1: the block had served an operator before; 0: not. NULL: the block is not known.
    is_reused INTEGER
);

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
