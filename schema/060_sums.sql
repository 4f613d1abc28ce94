-- Sums that need the order of events, computed once while loading. The views of the same topics show them with names.

CREATE TABLE heap_sum (
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
    -- Allocated in the trace, not freed by its end, not a segment. Unit: allocations.
    outstanding_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    outstanding_bytes INTEGER NOT NULL,
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
    -- Bytes of the pool's segments at that moment. Unit: bytes. NULL: not a pool.
    reserved_at_peak_bytes INTEGER,
    -- Most that the pool's segments ever held. Unit: bytes. NULL: not a pool.
    peak_reserved_bytes INTEGER,
    -- Bytes of the pool's segments at the end. Unit: bytes. NULL: not a pool.
    reserved_bytes INTEGER,
    -- Place at which peak_reserved_bytes was reached first. NULL: not a pool, or before the first event.
    peak_reserved_seq INTEGER,
    -- Allocations whose cost is known. Unit: allocations.
    cost_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds.
    cost_ns INTEGER NOT NULL
);

CREATE TABLE peak_stack (
    -- What was live at the peak of a heap, by stack. Shown by the view peak_by_site.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where it was allocated. NULL: no stack was recorded, or baseline.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- 1: what was there before the recording began; 0: allocated in the trace.
    is_baseline INTEGER NOT NULL,
    -- Allocations. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL
);

CREATE TABLE pool_hit (
    -- How often a pool served a request by itself, by size of the request. Shown by the view pool_hit_rate.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- A code of pool_bucket.
    bucket INTEGER NOT NULL REFERENCES pool_bucket (bucket),
    -- Requests of that size. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Requests for which the pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Place of the last such request in the order of events. NULL: there was none.
    last_miss_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns INTEGER
);

CREATE TABLE device_sum (
    -- Peak of a physical device over its driver heaps and all processes. Shown by the view device_peak.
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
    -- First event of the bucket, in the order of events. NULL: before the first event.
    first_seq INTEGER,
    -- Last event of the bucket.
    last_seq INTEGER,
    -- Event at which live bytes were most.
    max_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    max_ns INTEGER,
    -- Most live bytes in the bucket. Unit: bytes.
    max_live_bytes INTEGER NOT NULL,
    -- Live bytes at last_seq. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Live allocations at last_seq. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Bytes of the pool's segments at last_seq. Unit: bytes. NULL: not a pool.
    reserved_bytes INTEGER,
    -- When last_seq was. Unit: nanoseconds since the recording began. NULL: not known.
    last_ns INTEGER
);

CREATE TABLE fragmentation_sample (
    -- How a pool's memory was cut up at a moment. Shown by the view fragmentation.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Bytes of the pool's segments. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- Bytes of them inside blocks. Unit: bytes.
    occupied_bytes INTEGER NOT NULL,
    -- Bytes of them outside blocks. Unit: bytes.
    free_bytes INTEGER NOT NULL,
    -- Largest free range; a range does not cross segments. Unit: bytes.
    largest_free_bytes INTEGER NOT NULL,
    -- Free bytes in segments that hold something, which emptying the cache cannot give back. Unit: bytes.
    stuck_bytes INTEGER NOT NULL,
    -- Number of free ranges. Unit: ranges.
    gap_count INTEGER NOT NULL,
    -- Which size of a block was used: 'requested' or 'block'.
    size_basis TEXT,
    -- 1: computed from requested sizes, so gaps are too large; 0: exact.
    is_estimate INTEGER NOT NULL
);

CREATE TABLE memory_sample (
    -- What the runtime said of a device's memory when it was asked, and the host memory of each process: a row for each
    -- kind when it had moved by a mebibyte (npumem-record --sample-interval).
    --
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- The process that asked, or whose host memory it is.
    process_id INTEGER REFERENCES process (process_id),
    -- The device. NULL: host memory.
    device_id INTEGER REFERENCES device (device_id),
    -- A code of memory_kind.
    kind INTEGER NOT NULL,
    -- Memory in use: of a device by anybody, of the host by the process. Unit: bytes.
    used_bytes INTEGER NOT NULL,
    -- All memory of that kind; of the host: what the machine has. Unit: bytes.
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
    -- First address that is wrong; views show it as hexadecimal text.
    address INTEGER,
    -- How much is wrong. Unit: bytes. NULL: no size is part of it.
    size_bytes INTEGER,
    -- The allocation that it is about. NULL: none.
    allocation_id INTEGER REFERENCES allocation (allocation_id),
    -- The copy that it is about. NULL: none.
    copy_id INTEGER REFERENCES copy (copy_id),
    -- Where it happened. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Where the other half happened, e.g. the first of two frees. NULL: none, or no stack was recorded.
    other_stack_id INTEGER REFERENCES stack (stack_id),
    -- One line of explanation. NULL: none.
    detail TEXT
);
