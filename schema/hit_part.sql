-- How often pools served requests from what they held, over time.

CREATE TABLE z_hit_part (
    -- Requests of each pool by part of the recording and by size, of which it is known whether the pool had to grow. Parts have
    -- 2^n events each, at most 3,072 of a pool with their sizes. Read by the queries hit_rate_over_time and misses_over_time.
    --
    -- The pool.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where the part begins in the order of events.
    begin_seq INTEGER NOT NULL,
    -- Events of the part. Unit: events.
    event_count INTEGER NOT NULL,
    -- Size of the requests.
    bucket INTEGER NOT NULL REFERENCES z_pool_bucket (bucket),
    -- Place of the first of them in the order of events.
    first_seq INTEGER NOT NULL,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    first_ns INTEGER,
    -- Requests. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of them those for which the pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL
);
