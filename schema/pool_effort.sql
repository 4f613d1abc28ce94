-- What a pool's service costs, for the verdicts of view health.

CREATE TABLE z_pool_effort (
    -- What the driver's memory of a pool cost, and how the pool served after its peak; and of driver memory, what part of
    -- it became some pool's. Without the baseline.
    --
    -- The heap: a pool, a workspace, or driver memory.
    heap_id INTEGER PRIMARY KEY REFERENCES heap (heap_id),
    -- Driver allocations that became segments, of this pool or out of this driver memory. Unit: allocations.
    segment_count INTEGER NOT NULL,
    -- Those of them whose cost is known. Unit: allocations.
    segment_cost_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds.
    segment_cost_ns INTEGER NOT NULL,
    -- Those that were mapped: what they cost is the cost of physical memory. Unit: allocations.
    mapped_count INTEGER NOT NULL,
    -- Requests after the peak (its first moment), hit or missed. Unit: allocations. NULL: not a pool, or not known, for the
    -- peak was before what was kept.
    after_peak_count INTEGER,
    -- Those of them for which the pool had to grow. Unit: allocations. NULL: as after_peak_count.
    after_peak_miss_count INTEGER
);
