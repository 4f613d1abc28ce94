-- Who allocates for which stream.

CREATE TABLE z_thread_stream_sum (
    -- What each thread allocated of each heap for each stream, and what became of it; the baseline and what cuts left over are
    -- not in it. Read by the queries by_thread and by_stream.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The thread that allocated. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Stream that it allocated for. NULL: not known.
    stream INTEGER,
    -- 1: driver memory that carried a pool's blocks (a segment); 0: not.
    is_segment INTEGER NOT NULL,
    -- Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their sizes, by the heap's size_basis. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Of them what was given up while another stream still used it. Unit: allocations.
    pending_count INTEGER NOT NULL,
    -- Of them what was never freed. Unit: allocations.
    outstanding_count INTEGER NOT NULL,
    -- The same. Unit: bytes.
    outstanding_bytes INTEGER NOT NULL
);
