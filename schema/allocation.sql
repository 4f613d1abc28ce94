-- Every allocation.

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

CREATE TABLE z_malloc_policy (
    -- Words for allocation.policy of device memory that was not mapped.
    --
    -- Code: aclrtMemMallocPolicy, without its flags.
    policy INTEGER PRIMARY KEY,
    -- The pages that were asked for: huge are 2 MiB; P2P: memory that other devices reach.
    name TEXT NOT NULL
);

INSERT INTO z_malloc_policy VALUES
    (0, 'huge first'), (1, 'huge only'), (2, 'normal only'), (3, 'huge first for P2P'), (4, 'huge only for P2P'),
    (5, 'normal only for P2P'), (6, '1 GiB only'), (7, '1 GiB only for P2P');

CREATE TABLE z_stream_number (
    -- Streams of allocations, numbered: their handles are long, and a heap has few.
    --
    -- Number of the stream.
    stream_number INTEGER PRIMARY KEY,
    -- A heap with memory for it. NULL: not known.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Its handle.
    stream INTEGER NOT NULL,
    UNIQUE (stream, heap_id)
);

-- catalog: row an event
CREATE TABLE z_allocation (
    -- The rows of view allocation, in fewer bytes. What most rows have stands first: npumem-ingest leaves out the last columns of a
    -- row, as far as they are NULL or what is said here after DEFAULT.
    --
    -- Number of the allocation.
    allocation_id INTEGER PRIMARY KEY,
    -- As allocation.heap_id.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- As allocation.stack_id.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- As allocation.size_bytes. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- As allocation.alloc_seq.
    alloc_seq INTEGER,
    -- As allocation.free_seq.
    free_seq INTEGER,
    -- As allocation.is_segment.
    is_segment INTEGER NOT NULL,
    -- As allocation.end_kind.
    end_kind INTEGER NOT NULL REFERENCES end_kind (end_kind),
    -- As allocation.live_bytes. Unit: bytes.
    live_bytes INTEGER,
    -- As allocation.address.
    address INTEGER NOT NULL,
    -- As allocation.alloc_ns. Unit: nanoseconds.
    alloc_ns INTEGER,
    -- allocation.free_ns less allocation.alloc_ns; less 0 where that is NULL. Unit: nanoseconds. NULL: free_ns is.
    lived_ns INTEGER,
    -- As allocation.segment_id.
    segment_id INTEGER REFERENCES z_allocation (allocation_id),
    -- Which stream: a row of z_stream_number. NULL: not known.
    stream_number INTEGER REFERENCES z_stream_number (stream_number),
    -- As allocation.requested_bytes; 0: as many as size_bytes. Unit: bytes. NULL: not known.
    requested_bytes INTEGER,
    -- As allocation.block_bytes; 0: as many as size_bytes. Unit: bytes. NULL: not known.
    block_bytes INTEGER,
    -- As allocation.is_miss.
    is_miss INTEGER,
    -- As allocation.category_id.
    category_id INTEGER REFERENCES z_category (category_id),
    -- As allocation.free_stack_id.
    free_stack_id INTEGER REFERENCES stack (stack_id),
    -- As allocation.thread_id.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- As allocation.free_thread_id.
    free_thread_id INTEGER REFERENCES thread (thread_id),
    -- As allocation.operation_id.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- As allocation.operation_source.
    operation_source INTEGER REFERENCES z_operation_source (operation_source),
    -- As allocation.free_requested_seq.
    free_requested_seq INTEGER,
    -- As allocation.cost_ns. Unit: nanoseconds.
    cost_ns INTEGER,
    -- As allocation.generation.
    generation INTEGER,
    -- As allocation.policy.
    policy INTEGER,
    -- As allocation.private_pool.
    private_pool INTEGER,
    -- As allocation.graph_id.
    graph_id INTEGER REFERENCES z_graph (graph_id),
    -- As allocation.split_from_id.
    split_from_id INTEGER REFERENCES z_allocation (allocation_id),
    -- As allocation.is_mapped.
    is_mapped INTEGER NOT NULL DEFAULT 0,
    -- As allocation.is_doubtful.
    is_doubtful INTEGER NOT NULL DEFAULT 0,
    -- As allocation.is_exported.
    is_exported INTEGER NOT NULL DEFAULT 0
);

-- catalog: large, not in csv
CREATE VIEW allocation (
    -- One allocation, from its birth to its end. The largest of all: integers only.
    --
    -- Number of the allocation.
    allocation_id,
    -- The heap that it came from.
    heap_id,
    -- The driver allocation that carries it. NULL: not a block of a pool, or not known.
    segment_id,
    -- The thread that allocated it. NULL: not known.
    thread_id,
    -- The operation that it was part of, or whose workspace it was: operation_source says how that is known. NULL: not
    -- known, or none.
    operation_id,
    -- Where it was allocated. NULL: no stack was recorded.
    stack_id,
    -- Stream that it was allocated for. NULL: not known.
    stream,
    -- Driver memory: aclrtMemMallocPolicy, whose lowest byte is which pages; physical memory, and driver memory with
    -- is_mapped: aclrtMemAttr; registered memory: the flags of the registration. View allocation_detail has the words. NULL: not known, or another level.
    policy,
    -- First address; views show it as hexadecimal text.
    address,
    -- Size by the size_basis of its heap: what all sums use. Unit: bytes.
    size_bytes,
    -- What was asked for. Unit: bytes. NULL: not known.
    requested_bytes,
    -- What was handed out. Unit: bytes. NULL: not known.
    block_bytes,
    -- Place of its birth in the order of events; of a remainder that of the cut. NULL: it was there before the
    -- recording began (baseline), or before input.detail_begin_seq (then alloc_ns, stack_id and generation are known).
    alloc_seq,
    -- When it was born. Unit: nanoseconds since the recording began. NULL: not known.
    alloc_ns,
    -- How long the call took. Unit: nanoseconds. NULL: not known.
    cost_ns,
    -- Place at which the program gave it up while another stream still used it. NULL: that did not happen.
    free_requested_seq,
    -- Place of its end in the order of events. NULL: never freed.
    free_seq,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known, or never freed.
    free_ns,
    -- The thread that freed it. NULL: not known, or never freed.
    free_thread_id,
    -- Where it was freed. NULL: no stack was recorded, or never freed.
    free_stack_id,
    -- How it ended: a code of end_kind; 0 is not at all.
    end_kind,
    -- Live bytes of its heap right after its birth. Unit: bytes.
    live_bytes,
    -- 1: the pool had to grow for it; 0: the pool served it by itself. NULL: the question has no sense (not a pool).
    is_miss,
    -- The allocation of which this is what a cut in the middle left over. NULL: it is no remainder.
    split_from_id,
    -- 1: driver memory that carried a pool's blocks (a segment), or physical memory that lies under a mapping at the end;
    -- 0: not.
    is_segment,
    -- 1: its end may lie where events were lost, so it is never called a leak; 0: not.
    is_doubtful,
    -- When it was born, coarsely: in which step (0: before the first) or, where steps are unknown, in which twentieth
    -- of the trace (0 to 19); in a snapshot of several devices, of that of its device. NULL: it is not
    -- outstanding: it ended in this trace (other than by a reset after which nothing was allocated on its device), or it is
    -- (a remainder of) the baseline.
    generation,
    -- Private pool of the framework that it belongs to. NULL: none known.
    private_pool,
    -- How operation_id is known: a code of operation_source. NULL: it is not known.
    operation_source,
    -- 1: other processes may open it; 0: that was not seen.
    is_exported,
    -- 1: physical memory that was mapped, and can be unmapped in part; 0: not.
    is_mapped,
    -- The graph in whose capture it was born. NULL: in none.
    graph_id,
    -- What it is for. NULL: not known.
    category_id
) AS
SELECT
    allocation_id,
    heap_id,
    segment_id,
    thread_id,
    operation_id,
    stack_id,
    (SELECT n.stream FROM z_stream_number AS n WHERE n.stream_number = z_allocation.stream_number),
    policy,
    address,
    size_bytes,
    CASE requested_bytes WHEN 0 THEN size_bytes ELSE requested_bytes END,
    CASE block_bytes WHEN 0 THEN size_bytes ELSE block_bytes END,
    alloc_seq,
    alloc_ns,
    cost_ns,
    free_requested_seq,
    free_seq,
    coalesce(alloc_ns, 0) + lived_ns,
    free_thread_id,
    free_stack_id,
    end_kind,
    live_bytes,
    is_miss,
    split_from_id,
    is_segment,
    is_doubtful,
    generation,
    private_pool,
    operation_source,
    is_exported,
    is_mapped,
    graph_id,
    category_id
FROM z_allocation;
