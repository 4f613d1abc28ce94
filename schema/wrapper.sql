-- Functions that look like wrappers.

CREATE TABLE z_wrapper (
    -- Functions that may be wrappers through which the program allocates: three quarters of the stacks of a heap go through
    -- them on the way in, from at least three other functions, and from more places than lie inside. They are sites all the
    -- same: in another run the share is another. `function NAME` in a file of --site-rules says that one is a wrapper, here
    -- and in what is compared with it.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- The function's name, as a pattern for --site-rules.
    function TEXT NOT NULL
);
