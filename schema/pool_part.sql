-- The parts of a pool that serve requests by themselves.

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

CREATE INDEX part_sample_moment ON z_part_sample (moment_id);
