-- Memory that is given up while another stream still uses it.

CREATE TABLE z_pending_sum (
    -- Blocks of one pool that were given up and not yet reusable, by stack of their allocation and stream.
    --
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where they were allocated. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The stream that they were allocated on. NULL: not known.
    stream INTEGER,
    -- Blocks. Unit: allocations.
    pending_count INTEGER NOT NULL,
    -- Their size, by what the pool cut. Unit: bytes.
    pending_bytes INTEGER NOT NULL,
    -- Sum of size times how long, of those whose times are known. Unit: bytes times milliseconds.
    pending_byte_ms INTEGER NOT NULL,
    -- Longest that one was pending, up to the end of the trace. Unit: nanoseconds. NULL: no time is known.
    max_wait_ns INTEGER
);
