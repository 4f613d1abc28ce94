-- What each stream and private pool of a pool asked for.

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
