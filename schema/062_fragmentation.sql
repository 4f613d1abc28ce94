-- How pools are cut up: their parts, free ranges by size, who is in the way, and all of it over time.

CREATE TABLE z_segment_kind (
    -- Words for z_pool_part.segment_kind. They go by the size of the segment alone, as PyTorch's caching allocators
    -- choose it, and by whether it was mapped.
    --
    -- Code.
    segment_kind INTEGER PRIMARY KEY,
    -- small: exactly 2 MiB, for requests of up to 1 MiB; large: 10 MiB or more, a multiple of 2 MiB, for larger
    -- requests; expandable: mapped, for either; other.
    name TEXT NOT NULL
);
INSERT INTO z_segment_kind VALUES (1, 'small'), (2, 'large'), (3, 'expandable'), (4, 'other');

CREATE TABLE z_pool_part (
    -- A part of a pool: its segments of one kind, stream and private pool. A request is served from one part alone;
    -- what is free in another is of no use to it. A pool with more than 64 has the others as one, with NULL for all
    -- three.
    --
    -- Number of the part.
    part_id INTEGER PRIMARY KEY,
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- A code of segment_kind. NULL: of several.
    segment_kind INTEGER REFERENCES z_segment_kind (segment_kind),
    -- The stream that the segments were allocated for, or where the driver was not told that of the first block in them.
    -- NULL: not known, or several.
    stream INTEGER,
    -- As allocation.private_pool, of the first block in a segment. NULL: the default pool, or none known, or several.
    private_pool INTEGER
);

CREATE TABLE z_part_sample (
    -- Figures of a part of a pool at a moment; none where it held nothing. They add up to those of
    -- fragmentation_sample.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- The part.
    part_id INTEGER NOT NULL REFERENCES z_pool_part (part_id),
    -- Bytes of its segments. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- Bytes of them outside blocks. Unit: bytes.
    free_bytes INTEGER NOT NULL,
    -- Largest free range. Unit: bytes.
    largest_free_bytes INTEGER NOT NULL,
    -- Free bytes in segments that hold something. Unit: bytes.
    stuck_bytes INTEGER NOT NULL,
    -- Number of free ranges. Unit: ranges.
    gap_count INTEGER NOT NULL,
    -- What its live blocks were given beyond what was asked for. Unit: bytes. NULL: one of the two sizes is not known
    -- of some.
    waste_bytes INTEGER
);

CREATE TABLE z_pool_growth (
    -- The request that took a part of a pool to the largest that it ever was, and what was free in that part although it had
    -- to grow; of several to the same size the one with most of it. Shown by the view z_fragmentation_verdict.
    --
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The part.
    part_id INTEGER NOT NULL REFERENCES z_pool_part (part_id),
    -- Place of the request in the order of events.
    seq INTEGER NOT NULL,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- What was asked for. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- What the pool held then, with the new segment. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- What the part held then, with the new segment. Unit: bytes.
    part_reserved_bytes INTEGER NOT NULL,
    -- Free then in the part, without what is left over of the new segment. Unit: bytes.
    free_bytes INTEGER NOT NULL,
    -- Part of free_bytes that lies inside blocks of which only the requested size is told, at least. Unit: bytes.
    min_rounding_bytes INTEGER NOT NULL,
    -- The same at most. Unit: bytes.
    max_rounding_bytes INTEGER NOT NULL,
    -- 1: events were lost before it; 0: none were.
    is_doubtful INTEGER NOT NULL,
    -- 1: what the process held when its recording began is not known; 0: all is known.
    is_partial INTEGER NOT NULL
);

CREATE TABLE z_gap (
    -- Free ranges of a part of a pool at a moment, by size: a range of N bytes or more is one in which N bytes would
    -- have fitted. Only where fragmentation_sample.has_detail is 1.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The part.
    part_id INTEGER NOT NULL REFERENCES z_pool_part (part_id),
    -- A power of two: the ranges have so many bytes or more, and less than twice as many. Unit: bytes.
    class_bytes INTEGER NOT NULL,
    -- Free ranges of that size. Unit: ranges.
    gap_count INTEGER NOT NULL,
    -- Bytes of them all. Unit: bytes.
    free_bytes INTEGER NOT NULL,
    -- The largest of them. Unit: bytes.
    largest_bytes INTEGER NOT NULL
);

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

CREATE TABLE z_blocker_sample (
    -- Blocks of one stack that keep segments from being empty, at a moment. The free bytes of a segment that holds
    -- blocks are split evenly over these blocks, however large they are, for each of them is as much in the way; what
    -- is left over goes, a byte each, to those with the lowest addresses. So the hostage_bytes of a pool at a moment
    -- add up to its stuck_bytes. The 64 stacks with most (at marks and failures 16) have rows; one more has the rest.
    -- Only where fragmentation_sample.has_detail is 1. Shown by the view fragmentation_blocker.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where the blocks were allocated. NULL: no stack is known, or several (is_rest).
    stack_id INTEGER REFERENCES stack (stack_id),
    -- 1: blocks that were there before the recording began; 0: allocated in it.
    is_baseline INTEGER NOT NULL,
    -- 1: all other stacks; 0: one stack.
    is_rest INTEGER NOT NULL,
    -- Blocks of it in segments that have free bytes. Unit: allocations.
    block_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    block_bytes INTEGER NOT NULL,
    -- Segments that they lie in. Unit: segments. NULL: not known (is_rest).
    segment_count INTEGER,
    -- Free bytes that they hold. Unit: bytes.
    hostage_bytes INTEGER NOT NULL,
    -- Segments among these with blocks of no other stack: without these blocks they are empty. Unit: segments.
    sole_segment_count INTEGER NOT NULL,
    -- Free bytes of those. Unit: bytes.
    sole_hostage_bytes INTEGER NOT NULL,
    -- Birth of the oldest in the order of events. NULL: before the first event, or not known.
    oldest_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    oldest_ns INTEGER,
    -- The block that holds most free bytes. NULL: not known, or of the rest.
    worst_allocation_id INTEGER REFERENCES allocation (allocation_id),
    -- Its first address; views show it as hexadecimal text. NULL: of the rest.
    worst_address INTEGER,
    -- Its size. Unit: bytes. NULL: of the rest.
    worst_block_bytes INTEGER,
    -- The free bytes that it holds. Unit: bytes. NULL: of the rest.
    worst_hostage_bytes INTEGER
);
