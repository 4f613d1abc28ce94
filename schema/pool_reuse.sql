-- How soon a pool is asked for a size again.

CREATE TABLE z_pool_reuse (
    -- How soon freed memory of a pool was asked for again: requests by how much the pool handed out between the last free of
    -- that size, or at that address, and the request. A free that no such request followed counts nowhere, nor does a
    -- request before which no such free came since the one before.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- 1: a request that was served at the address of the free (addresses freed long ago are forgotten); 0: one of its size.
    is_same_address INTEGER NOT NULL,
    -- 1: distances are sums of sizes, in bytes; 0: they are numbers of requests.
    distance_unit INTEGER NOT NULL,
    -- 0: nothing in between; n: from 2^(n-1) to 2^n - 1.
    distance_class INTEGER NOT NULL,
    -- Requests. Unit: allocations.
    request_count INTEGER NOT NULL
);
