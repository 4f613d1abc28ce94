-- What each stack allocated, as view allocation has it.

CREATE TABLE z_birth_sum (
    -- Rows of view allocation that were born in the recording, by heap and stack: with what cuts of mappings left over, without
    -- segments. Read by the query allocated_between.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their sizes, by the heap's size_basis. Unit: bytes.
    allocated_bytes INTEGER NOT NULL
);
