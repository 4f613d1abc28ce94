-- How pools are cut up over time.

CREATE TABLE z_fragmentation_usage (
    -- The timeline of how a pool and its parts are cut up, in at most 4096 buckets a pool and 1024 a part; extremes are
    -- exact.
    --
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The part. NULL: the whole pool.
    part_id INTEGER REFERENCES z_pool_part (part_id),
    -- First event of the bucket, in the order of events.
    first_seq INTEGER NOT NULL,
    -- Last event of the bucket.
    last_seq INTEGER NOT NULL,
    -- When last_seq was. Unit: nanoseconds since the recording began. NULL: not known.
    last_ns INTEGER,
    -- Bytes of the segments at last_seq; where none had been seen by then, what the pool stated. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- Bytes of them outside blocks at last_seq. Unit: bytes.
    free_bytes INTEGER NOT NULL,
    -- Largest free range at last_seq. Unit: bytes. NULL: not known at some event of the bucket, as no segment had been
    -- seen.
    largest_free_bytes INTEGER,
    -- Free bytes in segments that hold something, at last_seq. Unit: bytes. NULL: as above.
    stuck_bytes INTEGER,
    -- Number of free ranges at last_seq. Unit: ranges. NULL: as above.
    gap_count INTEGER,
    -- What live blocks were given beyond what was asked for, at last_seq. Unit: bytes. NULL: one of the two sizes is
    -- not known of some.
    waste_bytes INTEGER,
    -- Most reserved bytes in the bucket. Unit: bytes.
    max_reserved_bytes INTEGER NOT NULL,
    -- Most bytes inside blocks. Unit: bytes.
    max_occupied_bytes INTEGER NOT NULL,
    -- Most free bytes. Unit: bytes.
    max_free_bytes INTEGER NOT NULL,
    -- Event at which free bytes were most.
    max_free_seq INTEGER NOT NULL,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    max_free_ns INTEGER,
    -- Least that the largest free range had. Unit: bytes. NULL: as largest_free_bytes.
    min_largest_free_bytes INTEGER,
    -- Most free ranges. Unit: ranges. NULL: as largest_free_bytes.
    max_gap_count INTEGER,
    -- Most that was inactive split. Unit: bytes. NULL: as largest_free_bytes.
    max_stuck_bytes INTEGER,
    -- Event at which most was inactive split. NULL: as largest_free_bytes.
    max_stuck_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    max_stuck_ns INTEGER,
    -- Most waste. Unit: bytes. NULL: not known at some event of the bucket.
    max_waste_bytes INTEGER,
    -- 1: at some event of the bucket computed from requested sizes, or from what the pool stated; 0: exact.
    is_estimate INTEGER NOT NULL,
    -- 1: events were lost before its end; 0: none were.
    is_doubtful INTEGER NOT NULL,
    -- 1: what the process held when its recording began is not known, and not in these figures; 0: all is known.
    is_partial INTEGER NOT NULL
);

CREATE INDEX fragmentation_usage_heap ON z_fragmentation_usage (heap_id, part_id, last_seq);
