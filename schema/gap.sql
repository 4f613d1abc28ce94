-- Free ranges of a pool by size.

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

CREATE INDEX gap_moment ON z_gap (moment_id, heap_id);
