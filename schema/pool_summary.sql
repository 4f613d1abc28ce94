-- What pools did, in one row.

CREATE TABLE z_pool_sum (
    -- What a pool got from the driver, gave back, and could not use yet. Shown by the view pool_summary.
    --
    -- The pool's heap.
    heap_id INTEGER PRIMARY KEY REFERENCES heap (heap_id),
    -- Driver allocations and mappings that became its segments. Unit: calls.
    driver_count INTEGER NOT NULL,
    -- Of these, how many have a known cost; mappings have none. Unit: calls.
    driver_cost_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds.
    driver_cost_ns INTEGER NOT NULL,
    -- Flushes: runs of segments given back to the driver with no request in between. Unit: flushes.
    flush_count INTEGER NOT NULL,
    -- Segments, or parts of mapped ones, that it gave back. Unit: segments.
    released_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    released_bytes INTEGER NOT NULL,
    -- Flushes after which the pool's next request was a miss: it gave back, and asked the driver again. Unit: flushes.
    retry_count INTEGER NOT NULL,
    -- Of these, before how many a request on the device had failed since the pool's last request. Unit: flushes.
    failed_retry_count INTEGER NOT NULL,
    -- Blocks that were pending: given up, and not reusable before another event of the pool came. Unit: allocations.
    pending_count INTEGER NOT NULL,
    -- Their size, by what the pool cut. Unit: bytes.
    pending_bytes INTEGER NOT NULL,
    -- Sum of size times how long, of those whose times are known. Unit: bytes times milliseconds.
    pending_byte_ms INTEGER NOT NULL,
    -- Most that was pending at once. Unit: bytes.
    max_pending_bytes INTEGER NOT NULL,
    -- Misses that pending memory would have served (found among the 256 blocks given up last; else too few). Unit:
    -- allocations.
    pending_miss_count INTEGER NOT NULL,
    -- Place in the order of events of the free request that reached max_pending_bytes first. NULL: there was none, or it was
    -- before the first event.
    max_pending_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    max_pending_ns INTEGER,
    -- Longest that one was pending, up to the end of the trace. Unit: nanoseconds.
    max_wait_ns INTEGER NOT NULL,
    -- Frees of sizes that z_pool_reuse left out: of one pool 65536 sizes are kept. Unit: allocations.
    untracked_count INTEGER NOT NULL,
    -- 1: some of what the pool did is not in this trace (it began late, lost events, was paused, or kept only a part); these
    -- are figures of what is; 0: it is all there.
    is_partial INTEGER NOT NULL,
    -- 1: the size of some block was only known as requested; 0: all are known as cut.
    is_estimate INTEGER NOT NULL
);

-- catalog: first 10, not counted
CREATE VIEW pool_summary (
    -- How well each pool works, in one row: what to read first. A plain hit rate only rises with the length of a run:
    -- misses_per_step says whether the pool still grows once the program is warm, after two steps.
    --
    -- begin place
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device. NULL: host memory.
    device,
    -- Name of the heap.
    heap,
    -- Level of the heap.
    level,
    -- end place
    -- begin hits
    -- Requests of which it is known whether they are misses. Unit: allocations.
    allocation_count,
    -- Of these, how many the pool served by itself. Unit: allocations.
    hit_count,
    -- Of these, for how many it had to grow. Unit: allocations.
    miss_count,
    -- hit_count / allocation_count. Unit: 0 to 1. NULL: no request, or no miss was seen and the input allows but an estimate.
    hit_rate,
    -- Sum of the requests, by the heap's size_basis. Unit: bytes.
    allocated_bytes,
    -- Sum of the misses. Unit: bytes.
    missed_bytes,
    -- 1 - missed_bytes / allocated_bytes: what a large miss costs. Unit: 0 to 1. NULL: as hit_rate.
    byte_hit_rate,
    -- end hits
    -- Steps of the process. Unit: steps. 0: none is known.
    step_count,
    -- Misses in each step after the warm-up, on average. Unit: allocations. NULL: no such step is known.
    misses_per_step,
    -- Number of the last step with a miss, as the program counts. NULL: no step had one, or none is known.
    last_missing_step,
    -- Place of the last miss in the order of events. NULL: there was none.
    last_miss_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns,
    -- Misses whose cause is 'cold': view pool_by says what the causes are. Unit: allocations.
    cold_count,
    -- Misses whose cause is 'growth'. Unit: allocations.
    growth_count,
    -- Misses whose cause is 'after_flush'. Unit: allocations.
    after_flush_count,
    -- Misses whose cause is 'pending_free'. Unit: allocations. NULL: not known, for the pool tells a
    -- free when it is asked for, and not when the memory can be used again.
    pending_free_count,
    -- Misses whose cause is 'fragmentation'. Unit: allocations.
    fragmentation_count,
    -- Misses whose cause is not known; of a pool of which pending_free_count is NULL also those that pending memory may have caused. Unit:
    -- allocations.
    unknown_cause_count,
    -- Runs of segments given back to the driver with no request in between. Unit: flushes.
    flush_count,
    -- Segments, or parts of mapped ones, that it gave back. Unit: segments.
    released_count,
    -- Their size. Unit: bytes.
    released_bytes,
    -- Flushes after which the next request was a miss: the pool gave back, and asked the driver again. Unit: flushes.
    retry_count,
    -- Of these, how many followed a request that the device had refused. Unit: flushes.
    failed_retry_count,
    -- Blocks that were given up and not yet reusable when the pool's next event came. Unit: allocations. NULL, as what
    -- follows of them: not known, as pending_free_count.
    pending_count,
    -- Most bytes that were so at once. Unit: bytes.
    max_pending_bytes,
    -- Where that is not known, it was no more than this. Unit: bytes. NULL: it is known, or no bound is known either.
    max_pending_bound_bytes,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there were none.
    max_pending_ns,
    -- Their size times how long. Unit: mebibytes times seconds.
    pending_mib_seconds,
    -- Longest that one was so. Unit: nanoseconds.
    max_wait_ns,
    -- Misses that this memory would have served, whatever their cause: what it cost. Unit: allocations.
    pending_miss_count,
    -- All that was allocated / the peak: how often the memory was turned over. Unit: times. NULL: nothing was ever
    -- live.
    churn_ratio,
    -- Driver allocations and mappings that became the pool's segments. Unit: calls.
    driver_count,
    -- Time in them. Unit: nanoseconds. NULL: not known of any; mappings have none in a trace, and neither has giving
    -- back.
    driver_cost_ns,
    -- driver_cost_ns / all allocations of the pool: what a request pays for the driver. Unit: nanoseconds. NULL: not
    -- known, or only a part of the recording was kept, of which driver_cost_ns is, and all allocations are not.
    driver_ns_per_allocation,
    -- 1: some of what the pool did is not in this trace, so these are figures of what is; 0: it is all there.
    is_partial,
    -- 1: the size of some block is only known as requested, so causes and pending bytes go by that; 0: all are known as
    -- cut.
    is_estimate
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    h.allocation_count,
    h.allocation_count - h.miss_count,
    h.miss_count,
    CASE
        WHEN h.allocation_count > 0 AND h.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(h.miss_count AS REAL) / h.allocation_count
    END,
    coalesce(g.allocated_bytes, 0),
    coalesce(g.missed_bytes, 0),
    CASE
        WHEN g.allocated_bytes > 0 AND g.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(g.missed_bytes AS REAL) / g.allocated_bytes
    END,
    coalesce(n.step_count, 0),
    CASE
        WHEN n.step_count > n.warm_up_count
            THEN CAST(coalesce(w.miss_count, 0) AS REAL) / (n.step_count - n.warm_up_count)
    END,
    (
        SELECT t.number
        FROM z_step_sum AS t
        WHERE t.heap_id = s.heap_id AND t.generation = w.last_generation
    ),
    h.last_miss_seq,
    h.last_miss_ns,
    CASE WHEN coalesce(e.is_cold_known, 1) = 1 THEN coalesce(c.cold_count, 0) ELSE 0 END,
    coalesce(c.growth_count, 0),
    coalesce(c.after_flush_count, 0),
    CASE WHEN e.heap_id IS NULL THEN coalesce(c.pending_free_count, 0) END,
    CASE WHEN e.heap_id IS NULL THEN coalesce(c.fragmentation_count, 0) ELSE 0 END,
    coalesce(c.unknown_count, 0)
        + CASE WHEN e.heap_id IS NOT NULL THEN coalesce(c.fragmentation_count, 0) ELSE 0 END
        + CASE WHEN e.is_cold_known = 0 THEN coalesce(c.cold_count, 0) ELSE 0 END,
    s.flush_count,
    s.released_count,
    s.released_bytes,
    s.retry_count,
    s.failed_retry_count,
    CASE WHEN e.heap_id IS NULL THEN s.pending_count END,
    CASE WHEN e.heap_id IS NULL THEN s.max_pending_bytes END,
    e.max_pending_bound_bytes,
    s.max_pending_ns,
    CASE WHEN e.heap_id IS NULL THEN s.pending_byte_ms / 1048576.0 / 1000.0 END,
    CASE WHEN e.heap_id IS NULL THEN s.max_wait_ns END,
    CASE WHEN e.heap_id IS NULL THEN s.pending_miss_count END,
    CASE WHEN a.peak_bytes > 0 THEN CAST(a.allocated_bytes AS REAL) / a.peak_bytes END,
    s.driver_count,
    CASE WHEN s.driver_cost_count > 0 THEN s.driver_cost_ns END,
    CASE
        WHEN s.driver_cost_count > 0 AND a.allocation_count > 0
            AND NOT EXISTS (SELECT 1 FROM input AS i WHERE i.input_id = p.input_id AND i.detail_begin_seq IS NOT NULL)
            THEN CAST(s.driver_cost_ns AS REAL) / a.allocation_count
    END,
    s.is_partial,
    s.is_estimate
FROM z_pool_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
JOIN z_heap_sum AS a ON a.heap_id = s.heap_id
LEFT JOIN z_early_free AS e ON e.heap_id = s.heap_id
JOIN (
    SELECT
        heap_id,
        sum(allocation_count) AS allocation_count,
        sum(miss_count) AS miss_count,
        max(last_miss_seq) AS last_miss_seq,
        max(last_miss_ns) AS last_miss_ns
    FROM z_pool_hit
    GROUP BY heap_id
) AS h ON h.heap_id = s.heap_id
LEFT JOIN (
    SELECT heap_id, sum(allocated_bytes) AS allocated_bytes, sum(missed_bytes) AS missed_bytes
    FROM z_pool_group
    GROUP BY heap_id
) AS g ON g.heap_id = s.heap_id
LEFT JOIN z_warm_up AS n ON n.process_id = p.process_id
LEFT JOIN (
    SELECT
        t.heap_id,
        sum(CASE WHEN t.generation > u.warm_up_count THEN t.miss_count ELSE 0 END) AS miss_count,
        max(CASE WHEN t.miss_count > 0 AND t.generation > 0 THEN t.generation END) AS last_generation
    FROM z_step_sum AS t
    JOIN heap AS o ON o.heap_id = t.heap_id
    JOIN z_warm_up AS u ON u.process_id = o.process_id
    GROUP BY t.heap_id
) AS w ON w.heap_id = s.heap_id
LEFT JOIN (
    SELECT
        heap_id,
        sum(CASE WHEN cause = 1 THEN miss_count ELSE 0 END) AS cold_count,
        sum(CASE WHEN cause = 2 THEN miss_count ELSE 0 END) AS growth_count,
        sum(CASE WHEN cause = 3 THEN miss_count ELSE 0 END) AS after_flush_count,
        sum(CASE WHEN cause = 4 THEN miss_count ELSE 0 END) AS pending_free_count,
        sum(CASE WHEN cause = 5 THEN miss_count ELSE 0 END) AS fragmentation_count,
        sum(CASE WHEN cause IS NULL THEN miss_count ELSE 0 END) AS unknown_count
    FROM z_pool_miss_sum
    GROUP BY heap_id
) AS c ON c.heap_id = s.heap_id
ORDER BY s.heap_id;
