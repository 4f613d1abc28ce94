-- What calls cost.

CREATE TABLE z_cost_histogram (
    -- What allocation calls cost, by heap: how many took how long. Frees have no cost in a trace, and neither have mappings
    -- and what a framework's pool tells of itself. Up to 32 ns each value has its row; above, each power of two has 32 rows,
    -- so that a value is known to 1/32.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- n: costs from 2^n to 2^(n+1) - 1. Unit: power of two of nanoseconds.
    octave INTEGER NOT NULL,
    -- Smallest cost of the row. Unit: nanoseconds.
    min_ns INTEGER NOT NULL,
    -- Largest cost of the row. Unit: nanoseconds.
    max_ns INTEGER NOT NULL,
    -- Calls. Unit: calls.
    call_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds.
    cost_ns INTEGER NOT NULL
);

CREATE TABLE z_slowest_call (
    -- The 20 dearest allocation calls of each heap.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- 1: the dearest; of equal ones the earlier comes first.
    place INTEGER NOT NULL,
    -- What it cost. Unit: nanoseconds.
    cost_ns INTEGER NOT NULL,
    -- Place in the order of events. NULL: before the first event.
    seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- What it gave, by the heap's size_basis. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The thread. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- 1: it became a pool's segment; 0: not.
    is_segment INTEGER NOT NULL
);
