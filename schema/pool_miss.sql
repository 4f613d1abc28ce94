-- Why pools grew.

CREATE TABLE z_miss_cause (
    -- Words for z_pool_miss.cause: why a pool had to grow. The first rule that fits names the cause; a group is what a block
    -- of its private pool, stream and class can be cut from (table z_pool_group). Where something of the process was lost,
    -- not told or before its recording began, no cause is named. Where only what was live at the begin is known, neither
    -- 'cold' nor 'growth' is.
    --
    -- Code.
    cause INTEGER PRIMARY KEY,
    -- cold: the first miss of its group. after_flush: the group holds less of the driver's memory than it once did, and the
    -- most it held would have been enough for what the program holds of it with this request. cold, too: no step of the
    -- process had ended (where steps are known). growth: with this request the program holds more of the group than ever before.
    -- pending_free: memory of the group that was given up and not yet reusable would have served it. fragmentation: none of
    -- these, so the group held enough free memory, and not in one piece that it would use.
    name TEXT NOT NULL
);

INSERT INTO z_miss_cause VALUES
    (1, 'cold'), (2, 'growth'), (3, 'after_flush'), (4, 'pending_free'), (5, 'fragmentation');

CREATE TABLE z_pool_miss (
    -- Each request for which a pool had to grow, in order. The row of view allocation with this alloc_seq has the rest.
    --
    -- Place in the order of events.
    seq INTEGER NOT NULL,
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- How many steps of the process had begun; 0: none.
    generation INTEGER NOT NULL,
    -- The thread. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The stream. NULL: not known.
    stream INTEGER,
    -- The private pool. NULL: the default one, or not known.
    private_pool INTEGER,
    -- As in z_pool_group.
    is_large INTEGER NOT NULL,
    -- Its size, by the heap's size_basis. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- A code of z_miss_cause. NULL: not known. Of a pool of view z_early_free what was pending is not in it: views
    -- z_pool_miss_by_cause and z_pool_miss_by_site leave out what may be another cause.
    cause INTEGER REFERENCES z_miss_cause (cause),
    -- 1: pending memory of its group would have served it, whatever the cause; 0: not.
    is_pending_enough INTEGER NOT NULL,
    -- Driver allocations and mappings that it is the first block in. Unit: calls.
    driver_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds. NULL: not known.
    driver_cost_ns INTEGER,
    -- What its group held of the driver's memory before; of a pool that only states it, the whole pool. Unit: bytes. NULL:
    -- not known.
    held_bytes INTEGER,
    -- The most that it ever held before. Unit: bytes. NULL: not known.
    most_held_bytes INTEGER
);

CREATE TABLE z_pool_miss_sum (
    -- Misses of one pool by stack and cause. Shown by the views z_pool_miss_by_cause and z_pool_miss_by_site.
    --
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- A code of z_miss_cause. NULL: not known.
    cause INTEGER REFERENCES z_miss_cause (cause),
    -- Misses. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Their size, by the heap's size_basis. Unit: bytes.
    missed_bytes INTEGER NOT NULL,
    -- Misses that pending memory would have served. Unit: allocations.
    pending_miss_count INTEGER NOT NULL,
    -- Misses after the first step of the process. Unit: allocations.
    after_one_count INTEGER NOT NULL,
    -- Misses after its second step. Unit: allocations.
    after_two_count INTEGER NOT NULL,
    -- Driver allocations and mappings that they are the first block in. Unit: calls.
    driver_count INTEGER NOT NULL,
    -- What is known of their cost. Unit: nanoseconds.
    driver_cost_ns INTEGER NOT NULL,
    -- Place of the last one in the order of events.
    last_seq INTEGER NOT NULL
);
