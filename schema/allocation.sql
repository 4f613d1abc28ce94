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
