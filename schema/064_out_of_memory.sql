-- Requests for memory that could not be served at once: what a thread tried, and how things stood before.

CREATE TABLE z_out_of_memory_chain (
    -- Failed allocations of one thread on one device that belong together: try, flush, retry. Shown by the view
    -- out_of_memory. Heaps and device are described as they were before the first failure.
    --
    -- Number of the chain.
    out_of_memory_chain_id INTEGER PRIMARY KEY,
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- The device. NULL: host memory, or not known.
    device_id INTEGER REFERENCES device (device_id),
    -- The thread. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- The operation that the first failure was part of. NULL: none.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- Where it was. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The heap that could not serve first. NULL: not known.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The pool that said that it could not serve. NULL: none did, only the driver refused.
    pool_heap_id INTEGER REFERENCES heap (heap_id),
    -- The moment of the first failure, which has rows in z_device_sample, z_heap_sample and fragmentation_sample.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- 'recovered', 'fatal', 'open' (the recording ended first) or 'unknown' (events were lost first).
    outcome TEXT NOT NULL,
    -- The call about streams or events that failed, a code of z_stream_call_kind. NULL: it was an allocation.
    stream_call INTEGER REFERENCES z_stream_call_kind (kind),
    -- Failures. Unit: failures.
    failure_count INTEGER NOT NULL,
    -- Those of the driver. Unit: failures.
    driver_failure_count INTEGER NOT NULL,
    -- Place of the first failure in the order of events.
    first_seq INTEGER,
    -- Place of the last.
    last_seq INTEGER,
    -- When the first was. Unit: nanoseconds since the recording began. NULL: not known.
    first_ns INTEGER,
    -- When the last was. Unit: nanoseconds since the recording began. NULL: not known.
    last_ns INTEGER,
    -- What the first returned: 207001 is out of memory, 207005 out of other resources. NULL: not known.
    error_code INTEGER,
    -- What the pool was asked for, by its own word. Unit: bytes. NULL: not known.
    tried_bytes INTEGER,
    -- Largest request that the driver refused. Unit: bytes. NULL: it refused none.
    at_least_tried_bytes INTEGER,
    -- Driver memory that the thread gave back between the failures and their end. Unit: bytes.
    released_bytes INTEGER NOT NULL,
    -- Blocks of all pools of the device that the program had not given up; without a pool its driver memory. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- The same with blocks that other streams still used. Unit: bytes.
    active_bytes INTEGER NOT NULL,
    -- What these pools held of the driver's memory. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- What the process took of the device, without modules of CANN. Unit: bytes.
    own_bytes INTEGER NOT NULL,
    -- What modules of CANN took for the process, as far as recorded. Unit: bytes.
    module_bytes INTEGER NOT NULL,
    -- Largest block of these pools that the program had given up and that other streams still used. Unit: bytes.
    max_pending_bytes INTEGER NOT NULL,
    -- Live blocks of pool_heap_id. Unit: allocations.
    pool_live_count INTEGER NOT NULL,
    -- 1: segments of that pool were seen, so that the driver's refusals are as well; 0: not.
    has_segments INTEGER NOT NULL,
    -- Streams of the device that the process had created before and not destroyed. Unit: streams.
    stream_count INTEGER NOT NULL,
    -- Events likewise. Unit: events.
    event_count INTEGER NOT NULL,
    -- 1: events were lost before, or not all that was live is known; 0: not.
    is_partial INTEGER NOT NULL,
    -- What emptying the caches of the pools that did not ask would have given back to the device. Unit: bytes. NULL:
    -- nothing, or it is not known which asked.
    other_cache_bytes INTEGER,
    -- The pool that had most of it. NULL: none.
    other_cache_heap_id INTEGER REFERENCES heap (heap_id)
);

CREATE TABLE z_out_of_memory_stack (
    -- What was live on the device before a chain began, by stack: the 64 largest and, for each heap, the sum of the rest.
    -- Shown by the view z_out_of_memory_site. A recording with very many failures has rows of the first ones alone.
    --
    -- The chain.
    out_of_memory_chain_id INTEGER NOT NULL REFERENCES z_out_of_memory_chain (out_of_memory_chain_id),
    -- The heap: a pool, or driver memory that is no pool's.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where it was allocated. NULL: no stack was recorded, or the rest.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- 1: what was there before the recording began, and has no stack; 0: all else.
    is_baseline INTEGER NOT NULL,
    -- 1: the sum of all smaller ones of the heap; 0: not.
    is_rest INTEGER NOT NULL,
    -- Allocations. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL
);

CREATE TABLE z_out_of_memory_leak (
    -- What a leak (view leak_by_site: growing, rising) held on the device before a chain began, by site: of the blocks
    -- that are called a leak those that had been born by then, without what was born in the step of the failure. Shown by
    -- the view out_of_memory.
    --
    -- The chain.
    out_of_memory_chain_id INTEGER NOT NULL REFERENCES z_out_of_memory_chain (out_of_memory_chain_id),
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- The site. NULL: no stack was recorded.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- Size of those blocks. Unit: bytes.
    leaked_bytes INTEGER NOT NULL
);
