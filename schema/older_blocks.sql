-- What was there before the recording began.

CREATE TABLE z_older_blocks (
    -- Blocks from before the recording began, by stack, segments left out, and what of them lives at its end: not what may
    -- have been freed where events were lost, nor what is in a private pool. Of what has no stack there are no rows. Shown
    -- by the views leak_by_site and suspect_by_site.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where they were allocated.
    stack_id INTEGER NOT NULL REFERENCES stack (stack_id),
    -- Such blocks. Unit: allocations.
    block_count INTEGER NOT NULL,
    -- Their sizes, by the heap's size_basis. Unit: bytes.
    block_bytes INTEGER NOT NULL,
    -- Of them, live at the end. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their sizes. Unit: bytes.
    live_bytes INTEGER NOT NULL
);
