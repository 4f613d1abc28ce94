-- Sums that need the order of events, or all rows of a large table, computed once while loading. The views of the same topics show them with names.

CREATE TABLE z_heap_sum (
    -- Totals and peaks of one heap. Shown by the views heap_total and peak.
    --
    -- The heap.
    heap_id INTEGER PRIMARY KEY REFERENCES heap (heap_id),
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of these, how many ended. Unit: allocations.
    free_count INTEGER NOT NULL,
    -- Sum of what was allocated, without the baseline. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Of these, how much ended. Unit: bytes.
    freed_bytes INTEGER NOT NULL,
    -- Allocated in the trace, not freed by its end, not a segment; what a reset ended counts where nothing was allocated on
    -- the device after it. Unit: allocations.
    outstanding_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    outstanding_bytes INTEGER NOT NULL,
    -- Birth of the last allocation in the order of events. NULL: there is none but the baseline.
    last_alloc_seq INTEGER,
    -- What was live before the first event. Unit: allocations.
    baseline_count INTEGER NOT NULL,
    -- Its size. Unit: bytes.
    baseline_bytes INTEGER NOT NULL,
    -- Live at the end of the trace, baseline included. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Most that was ever live, baseline included. Unit: bytes.
    peak_bytes INTEGER NOT NULL,
    -- Allocations that were live then. Unit: allocations.
    peak_live_count INTEGER NOT NULL,
    -- Place in the order of events at which the peak was reached first. NULL: before the first event.
    peak_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    peak_ns INTEGER,
    -- What the pool held of the driver's memory at that moment, by reserved_source. Unit: bytes. NULL: not a pool, or not
    -- known.
    reserved_at_peak_bytes INTEGER,
    -- Most that the pool ever held, by reserved_source. Unit: bytes. NULL: not a pool, or not known.
    peak_reserved_bytes INTEGER,
    -- What the pool held at the end, by reserved_source. Unit: bytes. NULL: not a pool, or not known.
    reserved_bytes INTEGER,
    -- Place at which peak_reserved_bytes was reached first. NULL: not a pool, or before the first event.
    peak_reserved_seq INTEGER,
    -- Allocations whose cost is known. Unit: allocations.
    cost_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds.
    cost_ns INTEGER NOT NULL,
    -- Where the reserved bytes come from. 'segments': driver memory that carried the pool's blocks; 'stated': no
    -- segment was ever seen, so the pool's own word counts, as of pinned memory in a snapshot the sum of its segments
    -- (host_segments). NULL: neither is known, or not a pool.
    reserved_source TEXT,
    -- What the pool itself stated last. Unit: bytes. NULL: it never stated anything.
    stated_reserved_bytes INTEGER,
    -- Most that the pool itself ever stated. Unit: bytes. NULL: it never stated anything.
    peak_stated_reserved_bytes INTEGER,
    -- 1: these are figures of the whole recording, also where its beginning was not kept; 0: of what was kept alone.
    is_whole_run INTEGER NOT NULL,
    -- What the program freed after the last allocation of the heap, of what was as old, in events, as half the heap or older,
    -- segments left out: by this it is known that the program gives back what it holds. 0 where the heap's beginning was not
    -- kept. Unit: allocations.
    released_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    released_bytes INTEGER NOT NULL
);

CREATE TABLE z_step_sum (
    -- What each heap did in each step of its process, over the whole recording. Steps in which a heap did nothing have no
    -- row. Shown by the view step_total.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Number of the step, as the program counts; of several steps that of the first. NULL: before the first step.
    number INTEGER,
    -- How many steps of the process had begun with it; 0: before the first step.
    generation INTEGER NOT NULL,
    -- The same of the last step that the row is of: long recordings that were kept in parts have joined old steps.
    last_generation INTEGER NOT NULL,
    -- Place of the step's begin in the order of events. NULL: before the first step.
    begin_seq INTEGER,
    -- Place of the event that ended it. NULL: it did not end in this trace.
    end_seq INTEGER,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known, or before the first step.
    begin_ns INTEGER,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known.
    end_ns INTEGER,
    -- Allocations in it. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Ends of allocations in it, the baseline left out. Unit: allocations.
    free_count INTEGER NOT NULL,
    -- Sum of what was allocated in it. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Sum of what ended in it, the baseline left out. Unit: bytes.
    freed_bytes INTEGER NOT NULL,
    -- Requests for which the pool had to grow. Unit: allocations. NULL: it is not known which they were.
    miss_count INTEGER,
    -- Most that was live in it. Unit: bytes.
    peak_bytes INTEGER NOT NULL,
    -- Live at its end. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Live allocations at its end. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Of what was allocated in it what was not freed by its end. Unit: allocations. NULL: not known.
    left_count INTEGER,
    -- The same. Unit: bytes. NULL: not known.
    left_bytes INTEGER,
    -- Most that the pool had reserved in it, what there was at its begin included. Unit: bytes. NULL: not a pool, or not
    -- known.
    peak_reserved_bytes INTEGER,
    -- Allocations and ends of driver memory of the heap's device and process in it. Unit: calls. NULL: host memory.
    driver_call_count INTEGER,
    -- Most that graphs held of what is live in it: what was born in their captures. Unit: bytes.
    graph_bytes INTEGER NOT NULL,
    -- Most that graphs held of the pool's segments in it. Unit: bytes.
    graph_reserved_bytes INTEGER NOT NULL,
    PRIMARY KEY (heap_id, generation) ON CONFLICT REPLACE
) WITHOUT ROWID;

CREATE TABLE z_stack_sum (
    -- Allocations of one heap by stack, over the whole recording, without the baseline.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Allocations. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of these, how many ended. Unit: allocations.
    free_count INTEGER NOT NULL,
    -- Sum of what was allocated. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Of these, how much ended. Unit: bytes.
    freed_bytes INTEGER NOT NULL,
    -- Part of allocated_bytes that was allocated in the steps of table step: not before the first, and not before
    -- input.detail_begin_seq. Unit: bytes.
    in_step_bytes INTEGER NOT NULL
);

CREATE TABLE z_peak_stack (
    -- What was live at the peak of a heap, by stack. Shown by the view peak_by_site.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where it was allocated. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- 1: what was there before the recording began, and has no stack; 0: all else.
    is_baseline INTEGER NOT NULL,
    -- Allocations. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- What of live_bytes was there before the recording began, as far as that is known, without what graphs hold. Unit: bytes.
    older_bytes INTEGER NOT NULL
);

CREATE TABLE z_peak_category (
    -- What was live at the peak of a heap by what it was for, where that is known. Shown by the view peak_by_category.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- What it was for.
    category_id INTEGER NOT NULL REFERENCES z_category (category_id),
    -- The program's own word for it. NULL: it is one of table z_category.
    own_name TEXT,
    -- Allocations that were live. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL
);

CREATE TABLE z_peak_module (
    -- What was live at the peak of a heap by the innermost part of a model in whose forward it was made. Shown by the view
    -- peak_by_module.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Path of the part: 'model.layers.3.mlp'.
    module TEXT,
    -- Allocations that were live. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL
);

CREATE TABLE z_pool_hit (
    -- How often a pool served a request by itself, by size of the request. Shown by the view pool_hit_rate.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- A code of z_pool_bucket.
    bucket INTEGER NOT NULL REFERENCES z_pool_bucket (bucket),
    -- Requests of that size. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Requests for which the pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Place of the last such request in the order of events. NULL: there was none.
    last_miss_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns INTEGER
);

CREATE TABLE z_allocation_kind_sum (
    -- Allocations of one heap by kind of memory. Shown by the view z_allocation_kind.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- 1: mapped memory, whose policy is a code of z_memory_kind; 0: not.
    is_mapped INTEGER NOT NULL,
    -- As allocation.policy. NULL: not known.
    policy INTEGER,
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Live at the end of the trace, segments and the baseline too. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL
);

CREATE TABLE z_operation_sum (
    -- Runs of one name in one process, and their workspaces.
    --
    -- The process. NULL: not known.
    process_id INTEGER REFERENCES process (process_id),
    -- A code of operation_kind.
    kind INTEGER NOT NULL REFERENCES operation_kind (kind),
    -- Name. NULL: it has none.
    name TEXT,
    -- Runs that began in the trace. Unit: operations.
    run_count INTEGER NOT NULL,
    -- Time from begin to end of the runs that ended. Unit: nanoseconds. NULL: not known of any.
    duration_ns INTEGER,
    -- Runs that returned an error. Unit: operations.
    error_count INTEGER NOT NULL,
    -- Runs that were given a workspace. Unit: operations.
    workspace_count INTEGER NOT NULL,
    -- The workspaces of all runs. Unit: bytes.
    requested_bytes INTEGER NOT NULL,
    -- The largest of them. Unit: bytes.
    max_requested_bytes INTEGER NOT NULL,
    -- The largest block that one of them lay in. Unit: bytes. NULL: no block is known.
    max_block_bytes INTEGER,
    -- Runs in a block that had served an operator before. Unit: operations.
    reused_count INTEGER NOT NULL,
    -- The heap of those blocks. NULL: none is known, or there are several.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Blocks that workspaces of the runs lay in, where the block is known; once for each run. Unit: bytes.
    block_bytes INTEGER NOT NULL,
    -- The workspaces of those runs. Unit: bytes.
    block_requested_bytes INTEGER NOT NULL
);

CREATE TABLE z_operation_memory_sum (
    -- Allocations of one heap by the name of their operation. Shown by the view operation_memory.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- A code of operation_kind. NULL: allocations of which no operation is known.
    kind INTEGER REFERENCES operation_kind (kind),
    -- Name of the operation. NULL: it has none, or none is known.
    name TEXT,
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- The largest of them. Unit: bytes.
    max_bytes INTEGER NOT NULL,
    -- Not freed by the end of the trace, and not a segment. Unit: allocations.
    outstanding_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    outstanding_bytes INTEGER NOT NULL,
    -- Those whose operation_source is 'thread'. Unit: allocations.
    thread_count INTEGER NOT NULL,
    -- Those whose operation_source is 'workspace'. Unit: allocations.
    workspace_count INTEGER NOT NULL,
    -- Those whose operation_source is 'queue'. Unit: allocations.
    queue_count INTEGER NOT NULL,
    -- Allocations that have ended, in whole or in part. Unit: allocations.
    freed_count INTEGER NOT NULL,
    -- allocated_bytes without what is still there at the end. Unit: bytes.
    freed_bytes INTEGER NOT NULL,
    -- What of it ended while its thread unloaded a model, whichever that was. Unit: bytes.
    unloaded_bytes INTEGER NOT NULL,
    -- Runs in which the thread of the operation allocated from the heap or freed to it. Unit: operations.
    measured_count INTEGER NOT NULL,
    -- The peaks over their start of all these, added up. Unit: bytes.
    rise_bytes INTEGER NOT NULL,
    -- The largest of them. Unit: bytes. NULL: none was measured.
    max_rise_bytes INTEGER,
    -- Where the run with the largest began, in the order of events; the first of several. NULL: none was measured.
    max_rise_seq INTEGER,
    -- Such runs in which events may be missing, or that touched more than 64 heaps; not among measured_count. Unit:
    -- operations.
    doubtful_count INTEGER NOT NULL
);

CREATE TABLE z_stream_call_sum (
    -- Calls about streams of one process, by device, kind and stream. Shown by the view z_stream_call_total.
    --
    -- The process. NULL: not known.
    process_id INTEGER REFERENCES process (process_id),
    -- The device. NULL: not known.
    device_id INTEGER REFERENCES device (device_id),
    -- A code of z_stream_call_kind.
    kind INTEGER NOT NULL REFERENCES z_stream_call_kind (kind),
    -- The stream. NULL: none, or not known.
    stream INTEGER,
    -- Calls. Unit: calls.
    call_count INTEGER NOT NULL,
    -- Time spent in them. Unit: nanoseconds. NULL: not known.
    cost_ns INTEGER,
    -- Calls that failed. Unit: calls.
    error_count INTEGER NOT NULL
);

CREATE TABLE z_device_sum (
    -- Peak of a physical device over its driver heaps and all processes of an input. Shown by the view device_peak.
    --
    -- The device, as the first process that used it sees it.
    device_id INTEGER PRIMARY KEY REFERENCES device (device_id),
    -- Most that was ever live. Unit: bytes.
    peak_bytes INTEGER NOT NULL,
    -- Place in the order of events at which the peak was reached first. NULL: before the first event.
    peak_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    peak_ns INTEGER
);

CREATE TABLE usage (
    -- The timeline of a heap, in at most a few thousand buckets; the maximum in each is exact.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- First event of the bucket, in the order of events. NULL: what was live before the first event.
    first_seq INTEGER,
    -- Last event of the bucket. NULL: the bucket is what was live before the first event.
    last_seq INTEGER,
    -- Event at which live bytes were most. NULL: before the first event.
    max_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    max_ns INTEGER,
    -- Most live bytes in the bucket. Unit: bytes.
    max_live_bytes INTEGER NOT NULL,
    -- Live bytes at last_seq. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Live allocations at last_seq. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- What the pool held at last_seq, by peak.reserved_source. Unit: bytes. NULL: not a pool, or not known.
    reserved_bytes INTEGER,
    -- When last_seq was. Unit: nanoseconds since the recording began. NULL: not known.
    last_ns INTEGER
);

CREATE TABLE fragmentation_sample (
    -- How a pool's memory was cut up at a moment; left out where thousands of heaps meet thousands of moments. Shown by the
    -- view fragmentation.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Bytes of the pool's segments; where none had been seen by then, what the pool stated. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- Bytes of them inside blocks. Unit: bytes.
    occupied_bytes INTEGER NOT NULL,
    -- Bytes of them outside blocks. Unit: bytes.
    free_bytes INTEGER NOT NULL,
    -- Largest free range; a range does not cross segments. Unit: bytes. NULL: not known, for no segment had been seen.
    largest_free_bytes INTEGER,
    -- Free bytes in segments that hold something, which emptying the cache cannot give back. Unit: bytes. NULL: not
    -- known, for no segment had been seen.
    stuck_bytes INTEGER,
    -- Number of free ranges. Unit: ranges. NULL: not known, for no segment had been seen.
    gap_count INTEGER,
    -- Which size of a block was used: 'requested' or 'block'.
    size_basis TEXT,
    -- 1: computed from requested sizes, so gaps are too large, or from what the pool stated; 0: exact.
    is_estimate INTEGER NOT NULL,
    -- What the pool itself had stated last. Unit: bytes. NULL: nothing yet.
    stated_reserved_bytes INTEGER,
    -- What live blocks were given beyond what was asked for. Unit: bytes. NULL: one of the two sizes is not known of
    -- some.
    waste_bytes INTEGER,
    -- 1: events were lost before the moment, so that blocks may be missing, or be there no more; 0: none were.
    is_doubtful INTEGER NOT NULL,
    -- 1: what the process held when its recording began is not known, and not in these figures; 0: all is known.
    is_partial INTEGER NOT NULL,
    -- 1: view fragmentation_blocker and the free ranges tell of this pool at this moment; 0: there were too many moments to look at each
    -- segment and block.
    has_detail INTEGER NOT NULL,
    -- Part of free_bytes that lies inside blocks of which only the requested size is told, at least. Unit: bytes.
    min_rounding_bytes INTEGER NOT NULL,
    -- The same at most: the rest is free for sure. Unit: bytes. NULL: no bound is known.
    max_rounding_bytes INTEGER
);

CREATE TABLE z_heap_sample (
    -- What a heap held from one event on, until its next row: not every change, but what moments need. What a heap held
    -- at a moment stands in its last row at or before the moment's place; without such a row it held nothing yet. That is
    -- exact at the end; at a mark or failure of the heap's process, or of another one on the same hardware; at peaks of
    -- the heap, of another heap on the same hardware (or, without a device, of the same process), and of the device.
    -- A peak on hardware with more than 512 heaps at once has the row of its own heap alone.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Place in the order of events from which on it held this; -1: before the first event.
    since_seq INTEGER NOT NULL,
    -- Live. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Live allocations. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- The same in whole pages of the device, where they are known; else live_bytes. Unit: bytes.
    page_bytes INTEGER NOT NULL,
    -- Part of live_bytes that was mapped: it is physical memory too. Unit: bytes.
    mapped_bytes INTEGER NOT NULL,
    -- Driver memory: part of live_bytes that is some pool's segments. Unit: bytes.
    segment_bytes INTEGER NOT NULL,
    -- Pools and workspaces: what they held of the driver's memory. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- Part of live_bytes that the program has given up, and that another stream still uses. Unit: bytes.
    pending_bytes INTEGER NOT NULL,
    -- Part of reserved_bytes outside blocks. Unit: bytes. NULL: no segment of it had been seen by then, or it is no pool.
    free_bytes INTEGER,
    -- Part of free_bytes that came since the pool last served a request: for the one that it serves. Unit: bytes.
    fresh_bytes INTEGER NOT NULL,
    -- 1: reserved_bytes is what the pool stated, for no segment had been seen by then; 0: bytes of its segments.
    is_stated INTEGER NOT NULL,
    -- 1: reserved_bytes is live_bytes, which the pool held at least, for nothing else was known of it by then; 0: not.
    is_at_least INTEGER NOT NULL,
    PRIMARY KEY (heap_id, since_seq) ON CONFLICT REPLACE
) WITHOUT ROWID;

CREATE TABLE z_device_sample (
    -- The devices that a moment concerns, and what each said of itself. A process's device is concerned while the
    -- process runs, and at the end if the process still ran when the device was asked last. Shown by the view
    -- z_device_moment.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- The device, as one process sees it.
    device_id INTEGER NOT NULL REFERENCES device (device_id),
    -- The first device of the input that is the same hardware.
    hardware_id INTEGER NOT NULL REFERENCES device (device_id),
    -- What the process's recorded memory takes of it. Unit: bytes.
    recorded_bytes INTEGER NOT NULL,
    -- Free memory of the hardware, when it was asked. Unit: bytes. NULL: it was not asked by then.
    free_bytes INTEGER,
    -- All memory of the hardware. Unit: bytes. NULL: it was not asked by then.
    total_bytes INTEGER,
    -- Place in the order of events at which it was asked: the last time before the moment; or after it, if no memory of
    -- the hardware came or went in between. NULL: it was not asked by then.
    sample_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known, or it was not asked by then.
    sample_ns INTEGER,
    -- 1: memory of the hardware came or went between the two; 0: not.
    is_stale INTEGER NOT NULL,
    -- Last place in the order of events up to which all memory of the hardware stayed as it was at the moment.
    until_seq INTEGER NOT NULL,
    -- What recorded memory of all processes took of the hardware when it was asked. Unit: bytes. NULL: it was not asked
    -- by then.
    sample_recorded_bytes INTEGER,
    -- Place of the moment in the order of events; -1: before the first event.
    at_seq INTEGER NOT NULL,
    PRIMARY KEY (moment_id, device_id)
) WITHOUT ROWID;

CREATE TABLE z_hardware_sample (
    -- Sums of z_device_sample: what all recorded processes together took of a piece of hardware at a moment.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- As z_device_sample.hardware_id.
    hardware_id INTEGER NOT NULL REFERENCES device (device_id),
    -- Devices of processes that are this hardware. Unit: devices.
    device_count INTEGER NOT NULL,
    -- What they took. Unit: bytes.
    recorded_bytes INTEGER NOT NULL,
    PRIMARY KEY (moment_id, hardware_id) ON CONFLICT REPLACE
) WITHOUT ROWID;

CREATE TABLE z_module_sample (
    -- What the runtime said of the memory that a module of it holds (aclrtGetMemUsageInfo).
    --
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- Place in the order of events.
    seq INTEGER,
    -- The process that asked.
    process_id INTEGER REFERENCES process (process_id),
    -- The device.
    device_id INTEGER REFERENCES device (device_id),
    -- Name of the module, as the runtime calls it.
    module TEXT,
    -- What it holds. Unit: bytes.
    used_bytes INTEGER NOT NULL,
    -- Most that it ever held. Unit: bytes.
    peak_bytes INTEGER NOT NULL,
    -- What the process's recorded memory took of the device then, of all modules. Unit: bytes.
    recorded_bytes INTEGER NOT NULL
);

CREATE TABLE z_device_module (
    -- The modules of CANN that hold memory of a device, by what was recorded or by what the runtime said.
    --
    -- The device.
    device_id INTEGER NOT NULL REFERENCES device (device_id),
    -- Name of the module; 'APP' is the program itself.
    module TEXT NOT NULL
);

CREATE TABLE memory_sample (
    -- What the runtime said of a device's memory when it was asked, and the host memory of each process: a row for each
    -- kind when it had moved by a mebibyte (npumem-record --sample-interval), and of host memory a last one at the end of
    -- each process that used a device: by its own word; of one that was killed the peak alone, where the kernel tells it
    -- (PROGRAM itself and what outlives its parent; none if it has recorded children, and of others that it waited for the
    -- largest counts in).
    --
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- The process that asked, or whose host memory it is.
    process_id INTEGER REFERENCES process (process_id),
    -- The device. NULL: host memory.
    device_id INTEGER REFERENCES device (device_id),
    -- aclrtMemAttr, from 100 on memory of the host, 105 and 106 what is around the process there; view usage_sample has the words.
    kind INTEGER NOT NULL,
    -- Memory in use: of a device, cgroup or machine by anybody, of the host by the process. Unit: bytes.
    used_bytes INTEGER NOT NULL,
    -- All memory of that kind; of the host: what the machine has; of a cgroup: its limit; 0: not known. Unit: bytes.
    total_bytes INTEGER NOT NULL,
    -- Place in the order of events.
    seq INTEGER
);

CREATE TABLE anomaly (
    -- Something that a correct program does not do. Shown by the view misuse.
    --
    -- Number of the anomaly.
    anomaly_id INTEGER PRIMARY KEY,
    -- A code of anomaly_kind.
    kind INTEGER NOT NULL REFERENCES anomaly_kind (kind),
    -- The process. NULL: not known.
    process_id INTEGER REFERENCES process (process_id),
    -- The thread. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Place in the order of events.
    seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- The heap. NULL: not known.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where: the address that the free names, the first that the copy names on its wrong side, the first that two blocks
    -- share; of a stream its number. Views show it as hexadecimal text.
    address INTEGER,
    -- How much: what the copy names on that side, the block that a wrong call frees, what two blocks share. Unit: bytes.
    -- NULL: no size is part of it.
    size_bytes INTEGER,
    -- The allocation that it is about. NULL: none.
    allocation_id INTEGER REFERENCES allocation (allocation_id),
    -- The copy that it is about. NULL: none.
    copy_id INTEGER REFERENCES copy (copy_id),
    -- Where it happened. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Where the other half happened, e.g. the first of two frees; see other_site of the view misuse. NULL: none, or not
    -- known.
    other_stack_id INTEGER REFERENCES stack (stack_id),
    -- One line of explanation. NULL: none.
    detail TEXT
);
