-- What pools did beside serving: who asked, why they grew, what they gave back, and what calls cost. All of it is summed
-- in one pass while loading; table z_pool_miss alone has a row for each event of its kind. The views of 372_view_pool_detail
-- show it with names.

CREATE TABLE z_miss_cause (
    -- Words for z_pool_miss.cause: why a pool had to grow. The first rule that fits names the cause; a group is what a block
    -- of its private pool, stream and class can be cut from (table z_pool_group). Where something of the process was lost,
    -- not told or before its recording began, no cause is named. Where only what was live at the begin is known, neither
    -- 'cold' nor 'growth' is.
    --
    -- Code.
    cause INTEGER PRIMARY KEY,
    -- cold: the first miss of its group. after_flush: the group holds less of the driver's memory than it once did, and the
    -- most it held would have been enough for what the program holds of it with this request. cold, too: no step of the
    -- process had ended (where steps are known). growth: with this request the program holds more of the group than ever before.
    -- pending_free: memory of the group that was given up and not yet reusable would have served it. fragmentation: none of
    -- these, so the group held enough free memory, and not in one piece that it would use.
    name TEXT NOT NULL
);
INSERT INTO z_miss_cause VALUES
    (1, 'cold'), (2, 'growth'), (3, 'after_flush'), (4, 'pending_free'), (5, 'fragmentation');

CREATE TABLE z_pool_sum (
    -- What a pool got from the driver, gave back, and could not use yet. Shown by the view pool_summary.
    --
    -- The pool's heap.
    heap_id INTEGER PRIMARY KEY REFERENCES heap (heap_id),
    -- Driver allocations and mappings that became its segments. Unit: calls.
    driver_count INTEGER NOT NULL,
    -- Of these, how many have a known cost; mappings have none. Unit: calls.
    driver_cost_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds.
    driver_cost_ns INTEGER NOT NULL,
    -- Flushes: runs of segments given back to the driver with no request in between. Unit: flushes.
    flush_count INTEGER NOT NULL,
    -- Segments, or parts of mapped ones, that it gave back. Unit: segments.
    released_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    released_bytes INTEGER NOT NULL,
    -- Flushes after which the pool's next request was a miss: it gave back, and asked the driver again. Unit: flushes.
    retry_count INTEGER NOT NULL,
    -- Of these, before how many a request on the device had failed since the pool's last request. Unit: flushes.
    failed_retry_count INTEGER NOT NULL,
    -- Blocks that were pending: given up, and not reusable before another event of the pool came. Unit: allocations.
    pending_count INTEGER NOT NULL,
    -- Their size, by what the pool cut. Unit: bytes.
    pending_bytes INTEGER NOT NULL,
    -- Sum of size times how long, of those whose times are known. Unit: bytes times milliseconds.
    pending_byte_ms INTEGER NOT NULL,
    -- Most that was pending at once. Unit: bytes.
    max_pending_bytes INTEGER NOT NULL,
    -- Misses that pending memory would have served (found among the 256 blocks given up last; else too few). Unit:
    -- allocations.
    pending_miss_count INTEGER NOT NULL,
    -- Place in the order of events of the free request that reached max_pending_bytes first. NULL: there was none, or it was
    -- before the first event.
    max_pending_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    max_pending_ns INTEGER,
    -- Longest that one was pending, up to the end of the trace. Unit: nanoseconds.
    max_wait_ns INTEGER NOT NULL,
    -- Frees of sizes that z_pool_reuse left out: of one pool 65536 sizes are kept. Unit: allocations.
    untracked_count INTEGER NOT NULL,
    -- 1: some of what the pool did is not in this trace (it began late, lost events, was paused, or kept only a part); these
    -- are figures of what is; 0: it is all there.
    is_partial INTEGER NOT NULL,
    -- 1: the size of some block was only known as requested; 0: all are known as cut.
    is_estimate INTEGER NOT NULL
);

CREATE TABLE z_pool_group (
    -- A pool's blocks that can take each other's place. Only requests of which it is known whether they are misses are
    -- counted. Shown by the views z_pool_by_stream and z_pool_by_class.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- The private pool (a snapshot's pool_id (a, b) as a * 2^32 + b). NULL: the default one, or not known.
    private_pool INTEGER,
    -- The stream. NULL: not known; also all beyond 4096 groups of a pool.
    stream INTEGER,
    -- 1: blocks above the pool's bound for large ones, 1 MiB unless it was declared with another; 0: up to it. By what the
    -- pool cut where that is known.
    is_large INTEGER NOT NULL,
    -- Requests. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of these, for how many the pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Sum of all requests, by the heap's size_basis. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Sum of the misses. Unit: bytes.
    missed_bytes INTEGER NOT NULL,
    -- Place of the last miss in the order of events. NULL: there was none.
    last_miss_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns INTEGER,
    -- Most that the program held of it at once. Unit: bytes.
    peak_live_bytes INTEGER NOT NULL,
    -- Segments whose first block was of this group, at the end. Unit: bytes.
    held_bytes INTEGER NOT NULL,
    -- Most of them at once. Unit: bytes.
    peak_held_bytes INTEGER NOT NULL,
    -- As in z_pool_sum. Unit: allocations.
    pending_count INTEGER NOT NULL,
    -- As in z_pool_sum. Unit: bytes.
    pending_bytes INTEGER NOT NULL,
    -- As in z_pool_sum. Unit: bytes times milliseconds.
    pending_byte_ms INTEGER NOT NULL,
    -- Most that was pending at once. Unit: bytes.
    max_pending_bytes INTEGER NOT NULL,
    -- Place of its last request in the order of events. NULL: there was none, or it was before the first event.
    last_seq INTEGER,
    -- Requests of the pool after that. Unit: allocations.
    since_count INTEGER NOT NULL,
    -- Most requests of the pool between two of its own. Unit: allocations.
    max_gap_count INTEGER NOT NULL
);

CREATE TABLE z_pool_class (
    -- Requests of a pool by size, in powers of two. Shown by the view z_pool_by_size.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- As in z_pool_group.
    is_large INTEGER NOT NULL,
    -- n: requests above 2^(n-1), up to 2^n bytes; 0: of one byte. By requested size where that is known.
    size_class INTEGER NOT NULL,
    -- Requests. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of these, for how many the pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Sum of all requests, by the heap's size_basis. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Sum of the misses. Unit: bytes.
    missed_bytes INTEGER NOT NULL,
    -- Place of the last miss in the order of events. NULL: there was none.
    last_miss_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns INTEGER
);

CREATE TABLE z_pool_step (
    -- What a pool did in each step of its process; steps in which it did nothing have no row. Table z_step_sum says when a step
    -- was. Shown by the view z_pool_by_step.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- How many steps of the process had begun with it; 0: before the first step.
    generation INTEGER NOT NULL,
    -- Requests of which it is known whether they are misses. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of these, for how many the pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Sum of all requests, by the heap's size_basis. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Sum of the misses. Unit: bytes.
    missed_bytes INTEGER NOT NULL,
    -- Driver allocations and mappings that became its segments. Unit: calls.
    driver_count INTEGER NOT NULL,
    -- What is known of their cost. Unit: nanoseconds.
    driver_cost_ns INTEGER NOT NULL,
    -- Segments, or parts of mapped ones, that it gave back. Unit: segments.
    released_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    released_bytes INTEGER NOT NULL,
    PRIMARY KEY (heap_id, generation) ON CONFLICT REPLACE
) WITHOUT ROWID;

CREATE TABLE z_pool_reuse (
    -- How soon freed memory of a pool was asked for again: requests by how much the pool handed out between the last free of
    -- that size, or at that address, and the request. A free that no such request followed counts nowhere, nor does a
    -- request before which no such free came since the one before.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- 1: a request that was served at the address of the free (addresses freed long ago are forgotten); 0: one of its size.
    is_same_address INTEGER NOT NULL,
    -- 1: distances are sums of sizes, in bytes; 0: they are numbers of requests.
    distance_unit INTEGER NOT NULL,
    -- 0: nothing in between; n: from 2^(n-1) to 2^n - 1.
    distance_class INTEGER NOT NULL,
    -- Requests. Unit: allocations.
    request_count INTEGER NOT NULL
);

CREATE TABLE z_pool_miss (
    -- Each request for which a pool had to grow, in order. The row of table allocation with this alloc_seq has the rest.
    --
    -- Place in the order of events.
    seq INTEGER NOT NULL,
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- How many steps of the process had begun; 0: none.
    generation INTEGER NOT NULL,
    -- The thread. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The stream. NULL: not known.
    stream INTEGER,
    -- The private pool. NULL: the default one, or not known.
    private_pool INTEGER,
    -- As in z_pool_group.
    is_large INTEGER NOT NULL,
    -- Its size, by the heap's size_basis. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- A code of z_miss_cause. NULL: not known. Of a pool of view z_early_free what was pending is not in it: views
    -- z_pool_miss_by_cause and z_pool_miss_by_site leave out what may be another cause.
    cause INTEGER REFERENCES z_miss_cause (cause),
    -- 1: pending memory of its group would have served it, whatever the cause; 0: not.
    is_pending_enough INTEGER NOT NULL,
    -- Driver allocations and mappings that it is the first block in. Unit: calls.
    driver_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds. NULL: not known.
    driver_cost_ns INTEGER,
    -- What its group held of the driver's memory before; of a pool that only states it, the whole pool. Unit: bytes. NULL:
    -- not known.
    held_bytes INTEGER,
    -- The most that it ever held before. Unit: bytes. NULL: not known.
    most_held_bytes INTEGER
);

CREATE TABLE z_pool_miss_sum (
    -- Misses of one pool by stack and cause. Shown by the views z_pool_miss_by_cause and z_pool_miss_by_site.
    --
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- A code of z_miss_cause. NULL: not known.
    cause INTEGER REFERENCES z_miss_cause (cause),
    -- Misses. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Their size, by the heap's size_basis. Unit: bytes.
    missed_bytes INTEGER NOT NULL,
    -- Misses that pending memory would have served. Unit: allocations.
    pending_miss_count INTEGER NOT NULL,
    -- Driver allocations and mappings that they are the first block in. Unit: calls.
    driver_count INTEGER NOT NULL,
    -- What is known of their cost. Unit: nanoseconds.
    driver_cost_ns INTEGER NOT NULL,
    -- Place of the last one in the order of events.
    last_seq INTEGER NOT NULL
);

CREATE TABLE z_pending_sum (
    -- Blocks of one pool that were given up and not yet reusable, by stack of their allocation and stream.
    --
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where they were allocated. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The stream that they were allocated on. NULL: not known.
    stream INTEGER,
    -- Blocks. Unit: allocations.
    pending_count INTEGER NOT NULL,
    -- Their size, by what the pool cut. Unit: bytes.
    pending_bytes INTEGER NOT NULL,
    -- Sum of size times how long, of those whose times are known. Unit: bytes times milliseconds.
    pending_byte_ms INTEGER NOT NULL,
    -- Longest that one was pending, up to the end of the trace. Unit: nanoseconds. NULL: no time is known.
    max_wait_ns INTEGER
);

CREATE TABLE z_cost_histogram (
    -- What allocation calls cost, by heap: how many took how long. Frees have no cost in a trace, and neither have mappings
    -- and what a framework's pool tells of itself. Up to 32 ns each value has its row; above, each power of two has 32 rows,
    -- so that a value is known to 1/32.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- n: costs from 2^n to 2^(n+1) - 1. Unit: power of two of nanoseconds.
    octave INTEGER NOT NULL,
    -- Smallest cost of the row. Unit: nanoseconds.
    min_ns INTEGER NOT NULL,
    -- Largest cost of the row. Unit: nanoseconds.
    max_ns INTEGER NOT NULL,
    -- Calls. Unit: calls.
    call_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds.
    cost_ns INTEGER NOT NULL
);

CREATE TABLE z_slowest_call (
    -- The 20 dearest allocation calls of each heap.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- 1: the dearest; of equal ones the earlier comes first.
    place INTEGER NOT NULL,
    -- What it cost. Unit: nanoseconds.
    cost_ns INTEGER NOT NULL,
    -- Place in the order of events. NULL: before the first event.
    seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- What it gave, by the heap's size_basis. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The thread. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- 1: it became a pool's segment; 0: not.
    is_segment INTEGER NOT NULL
);
