-- How large allocations are, and how long they live.

CREATE TABLE z_histogram (
    -- Allocations of each heap by size and by lifetime, in powers of two, without the baseline. A number has n bits from
    -- 2^(n-1) to 2^n - 1, and 0 has none. Read by the queries size_histogram and lifetime_histogram.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- What has that many bits: 'size_bytes' by the heap's size_basis, without what cuts of mappings left over; of what ended
    -- 'life_events', the events from its birth to its end, and 'life_ns', the nanoseconds, where they are known.
    measure TEXT NOT NULL,
    -- Unit: bits, 0 to 64.
    bits INTEGER NOT NULL,
    -- Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their sizes, by the heap's size_basis. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- Of them those for which a pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL
);
