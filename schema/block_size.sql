-- Which sizes of blocks are asked for again.

CREATE TABLE z_block_size (
    -- Requests of each heap by the size of their blocks, of those sizes of which a place was handed out again; without the
    -- baseline, segments and what cuts of mappings left over. Read by the query block_sizes.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- What was handed out, or else what was asked for in multiples of 512 bytes. Unit: bytes. NULL: the heap has too many
    -- addresses, and nothing but this row here.
    block_bytes INTEGER,
    -- Unit: allocations.
    request_count INTEGER NOT NULL,
    -- Addresses at which they were. Unit: addresses.
    place_count INTEGER NOT NULL,
    -- How long those lived whose birth and end have times, in all. Unit: nanoseconds.
    life_ns INTEGER NOT NULL,
    -- How many these are. Unit: allocations.
    timed_count INTEGER NOT NULL,
    -- How many never ended, of those whose birth has a time. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- The times of their births, summed up. Unit: nanoseconds since the recording began.
    live_begin_ns INTEGER NOT NULL
);
