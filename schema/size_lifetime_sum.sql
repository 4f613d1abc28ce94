-- How large allocations are, and how long they live.

CREATE TABLE z_size_lifetime_sum (
    -- Allocations of each heap by size and lifetime, both in powers of two, without the baseline. A number has n bits from
    -- 2^(n-1) to 2^n - 1, and 0 has none. Read by the queries size_histogram and lifetime_histogram.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- 1: what a cut in the middle of a mapping left over; 0: allocations.
    is_remainder INTEGER NOT NULL,
    -- Bits of the size in bytes, by the heap's size_basis. Unit: bits, 0 to 64.
    size_bits INTEGER NOT NULL,
    -- Bits of the events from birth to end. Unit: bits, 0 to 63. NULL: it had no end.
    life_seq_bits INTEGER,
    -- Bits of the nanoseconds from birth to end. Unit: bits, 0 to 64. NULL: it had no end, or not known.
    life_ns_bits INTEGER,
    -- Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their sizes. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- Of them those for which a pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL
);
