-- What pools did by step, class, size, stream, cause and site: of sums that were taken while loading, no view here reads table
-- allocation.

CREATE TABLE z_pool_class (
    -- Requests of a pool by size, in powers of two. Shown by the view z_pool_by_size.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- As in z_pool_group.
    is_large INTEGER NOT NULL,
    -- n: requests above 2^(n-1), up to 2^n bytes; 0: of one byte. By requested size where that is known.
    size_class INTEGER NOT NULL,
    -- Requests. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of these, for how many the pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Sum of all requests, by the heap's size_basis. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Sum of the misses. Unit: bytes.
    missed_bytes INTEGER NOT NULL,
    -- Place of the last miss in the order of events. NULL: there was none.
    last_miss_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns INTEGER
);

CREATE TABLE z_pool_step (
    -- What a pool did in each step of its process; steps in which it did nothing have no row. Table z_step_sum says when a step
    -- was. Shown by the view z_pool_by_step.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- How many steps of the process had begun with it; 0: before the first step.
    generation INTEGER NOT NULL,
    -- Requests of which it is known whether they are misses. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of these, for how many the pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Sum of all requests, by the heap's size_basis. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Sum of the misses. Unit: bytes.
    missed_bytes INTEGER NOT NULL,
    -- Driver allocations and mappings that became its segments. Unit: calls.
    driver_count INTEGER NOT NULL,
    -- What is known of their cost. Unit: nanoseconds.
    driver_cost_ns INTEGER NOT NULL,
    -- Segments, or parts of mapped ones, that it gave back. Unit: segments.
    released_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    released_bytes INTEGER NOT NULL,
    PRIMARY KEY (heap_id, generation) ON CONFLICT REPLACE
) WITHOUT ROWID;

CREATE VIEW z_pool_by_step (
    -- What each pool did in each step of its process; steps in which it did nothing are left out, and so are processes
    -- without steps. A warm pool has no misses: those of the warm-up (view z_warm_up) are none of its faults.
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
    -- Number of the step, as the program counts; of several joined ones that of the first. NULL: before the first step.
    step,
    -- 1: a step of the warm-up, or before it; 0: a later one.
    is_warm_up,
    -- Requests. Unit: allocations.
    allocation_count,
    -- Of these, how many the pool served by itself. Unit: allocations. NULL: not known.
    hit_count,
    -- Of these, for how many it had to grow. Unit: allocations. NULL: not known.
    miss_count,
    -- hit_count / allocation_count. Unit: 0 to 1. NULL: no request, or not known.
    hit_rate,
    -- Sum of the requests, by the heap's size_basis. Unit: bytes.
    allocated_bytes,
    -- Sum of the misses. Unit: bytes. NULL: not known, for of this step only sums were kept.
    missed_bytes,
    -- 1 - missed_bytes / the size of requests that are hits or misses. Unit: 0 to 1. NULL: no request, or not known.
    byte_hit_rate,
    -- Driver allocations and mappings that became the pool's segments. Unit: calls. NULL: not known.
    driver_count,
    -- What is known of their cost. Unit: nanoseconds. NULL: nothing is.
    driver_cost_ns,
    -- Segments, or parts of mapped ones, that it gave back. Unit: segments. NULL: not known.
    released_count,
    -- Their size. Unit: bytes. NULL: not known.
    released_bytes,
    -- When the step began. Unit: nanoseconds since the recording began. NULL: not known, or before the first step.
    begin_ns,
    -- 1: the row is of one step, all of whose events are in this database; 0: only sums were kept of some.
    has_detail,
    -- 1: some of what the pool did, in whichever step, is not in this trace, so these are figures of what is; 0: it is all
    -- there.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    t.number,
    t.generation <= u.warm_up_count,
    t.allocation_count,
    t.allocation_count - t.miss_count,
    t.miss_count,
    CASE
        WHEN t.allocation_count > 0 AND t.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(t.miss_count AS REAL) / t.allocation_count
    END,
    t.allocated_bytes,
    s.missed_bytes,
    CASE
        WHEN s.allocated_bytes > 0 AND s.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(s.missed_bytes AS REAL) / s.allocated_bytes
    END,
    s.driver_count,
    nullif(s.driver_cost_ns, 0),
    s.released_count,
    s.released_bytes,
    t.begin_ns,
    s.heap_id IS NOT NULL AND t.last_generation = t.generation,
    w.is_partial
FROM z_heap_place AS p
JOIN z_warm_up AS u ON u.process_id = p.process_id
LEFT JOIN z_pool_sum AS w ON w.heap_id = p.heap_id
CROSS JOIN z_step_sum AS t ON t.heap_id = p.heap_id
LEFT JOIN z_pool_step AS s ON s.heap_id = t.heap_id AND s.generation = t.generation
WHERE p.level IN ('pool', 'workspace')
ORDER BY p.heap_id, t.generation;

CREATE VIEW z_pool_by_class (
    -- How often each pool served a request by itself, by its own classes: a caching allocator cuts small and large
    -- blocks from segments of their own.
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
    -- 'small': blocks up to the pool's bound for large ones (1 MiB unless it was declared with another), by what the
    -- pool cut where that is known; 'large': above it.
    class,
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
    -- Place of the last miss in the order of events. NULL: there was none.
    last_miss_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns,
    -- Sum over streams and private pools of the most that the program held of each at once. Unit: bytes.
    peak_live_bytes,
    -- Segments of the class at the end. Unit: bytes.
    held_bytes,
    -- Sum over streams and private pools of the most segments of each at once. Unit: bytes.
    peak_held_bytes,
    -- 1: some of what the pool did is not in this trace, so these are figures of what is; 0: it is all there.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    CASE g.is_large WHEN 1 THEN 'large' ELSE 'small' END,
    g.allocation_count,
    g.allocation_count - g.miss_count,
    g.miss_count,
    CASE
        WHEN g.allocation_count > 0 AND g.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(g.miss_count AS REAL) / g.allocation_count
    END,
    g.allocated_bytes,
    g.missed_bytes,
    CASE
        WHEN g.allocated_bytes > 0 AND g.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(g.missed_bytes AS REAL) / g.allocated_bytes
    END,
    g.last_miss_seq,
    g.last_miss_ns,
    g.peak_live_bytes,
    g.held_bytes,
    g.peak_held_bytes,
    (SELECT s.is_partial FROM z_pool_sum AS s WHERE s.heap_id = g.heap_id)
FROM (
    SELECT
        heap_id,
        is_large,
        sum(allocation_count) AS allocation_count,
        sum(miss_count) AS miss_count,
        sum(allocated_bytes) AS allocated_bytes,
        sum(missed_bytes) AS missed_bytes,
        max(last_miss_seq) AS last_miss_seq,
        max(last_miss_ns) AS last_miss_ns,
        sum(peak_live_bytes) AS peak_live_bytes,
        sum(held_bytes) AS held_bytes,
        sum(peak_held_bytes) AS peak_held_bytes
    FROM z_pool_group
    GROUP BY heap_id, is_large
) AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
ORDER BY g.heap_id, g.is_large;

CREATE VIEW z_pool_by_size (
    -- How often each pool served a request by itself, by size in powers of two.
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
    -- 'small' or 'large': as in view z_pool_by_class.
    class,
    -- Smallest request of the row: one more than a power of two. Unit: bytes.
    min_bytes,
    -- Largest request of the row: a power of two. Unit: bytes.
    max_bytes,
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
    -- Place of the last miss in the order of events. NULL: there was none.
    last_miss_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns,
    -- 1: some of what the pool did is not in this trace, so these are figures of what is; 0: it is all there.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    CASE c.is_large WHEN 1 THEN 'large' ELSE 'small' END,
    CASE WHEN c.size_class = 0 THEN 1 ELSE (1 << (c.size_class - 1)) + 1 END,
    1 << c.size_class,
    c.allocation_count,
    c.allocation_count - c.miss_count,
    c.miss_count,
    CASE
        WHEN c.allocation_count > 0 AND c.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(c.miss_count AS REAL) / c.allocation_count
    END,
    c.allocated_bytes,
    c.missed_bytes,
    CASE
        WHEN c.allocated_bytes > 0 AND c.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(c.missed_bytes AS REAL) / c.allocated_bytes
    END,
    c.last_miss_seq,
    c.last_miss_ns,
    (SELECT s.is_partial FROM z_pool_sum AS s WHERE s.heap_id = c.heap_id)
FROM z_pool_class AS c
JOIN z_heap_place AS p ON p.heap_id = c.heap_id
ORDER BY c.heap_id, c.is_large, c.size_class;

CREATE VIEW z_pool_by_stream (
    -- How often each pool served a request by itself, by stream and private pool: memory of one stream serves no other
    -- until the pool is sure that it is no longer used.
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
    -- The stream. NULL: not known.
    stream,
    -- The private pool (a snapshot's pool_id (a, b) as a * 2^32 + b). NULL: the default one, or not known.
    private_pool,
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
    -- Place of the last miss in the order of events. NULL: there was none.
    last_miss_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns,
    -- Segments whose first block was of this stream, at the end. Unit: bytes.
    held_bytes,
    -- Blocks that were given up and not yet reusable when the pool's next event came. Unit: allocations. NULL, as what
    -- follows of them: not known (view z_early_free).
    pending_count,
    -- Their size. Unit: bytes.
    pending_bytes,
    -- Their size times how long. Unit: mebibytes times seconds.
    pending_mib_seconds,
    -- 1: some of what the pool did is not in this trace, so these are figures of what is; 0: it is all there.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    g.stream,
    g.private_pool,
    g.allocation_count,
    g.allocation_count - g.miss_count,
    g.miss_count,
    CASE
        WHEN g.allocation_count > 0 AND g.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(g.miss_count AS REAL) / g.allocation_count
    END,
    g.allocated_bytes,
    g.missed_bytes,
    CASE
        WHEN g.allocated_bytes > 0 AND g.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN 1.0 - CAST(g.missed_bytes AS REAL) / g.allocated_bytes
    END,
    g.last_miss_seq,
    g.last_miss_ns,
    g.held_bytes,
    CASE WHEN e.heap_id IS NULL THEN g.pending_count END,
    CASE WHEN e.heap_id IS NULL THEN g.pending_bytes END,
    CASE WHEN e.heap_id IS NULL THEN g.pending_byte_ms / 1048576.0 / 1000.0 END,
    (SELECT s.is_partial FROM z_pool_sum AS s WHERE s.heap_id = g.heap_id)
FROM (
    SELECT
        heap_id,
        stream,
        private_pool,
        sum(allocation_count) AS allocation_count,
        sum(miss_count) AS miss_count,
        sum(allocated_bytes) AS allocated_bytes,
        sum(missed_bytes) AS missed_bytes,
        max(last_miss_seq) AS last_miss_seq,
        max(last_miss_ns) AS last_miss_ns,
        sum(held_bytes) AS held_bytes,
        sum(pending_count) AS pending_count,
        sum(pending_bytes) AS pending_bytes,
        sum(pending_byte_ms) AS pending_byte_ms
    FROM z_pool_group
    GROUP BY heap_id, stream, private_pool
) AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN z_early_free AS e ON e.heap_id = g.heap_id
ORDER BY g.heap_id, g.allocated_bytes DESC, g.stream, g.private_pool;

CREATE VIEW z_pool_miss_by_cause (
    -- Why each pool had to grow. cold: its first miss of that stream, private pool and class, or no step had ended.
    -- after_flush: it had given back what would have been enough. growth: the program holds more than ever before.
    -- pending_free: memory that was given up and not yet reusable would have served it. fragmentation: the pool held
    -- enough, but not in one piece that it would use. Table z_miss_cause has the rules.
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
    -- 'cold', 'growth', 'after_flush', 'pending_free' or 'fragmentation'. NULL: what was before, or what was pending
    -- (view z_early_free), is not known well enough.
    cause,
    -- Misses. Unit: allocations.
    miss_count,
    -- Their size, by the heap's size_basis. Unit: bytes.
    missed_bytes,
    -- Of these, how many memory would have served that was given up and not yet reusable. Unit: allocations. NULL: not
    -- known (view z_early_free).
    pending_miss_count,
    -- Driver allocations and mappings that they are the first block in. Unit: calls.
    driver_count,
    -- What is known of their cost. Unit: nanoseconds. NULL: nothing is.
    driver_cost_ns,
    -- Share of the pool's misses. Unit: 0 to 1.
    share_ratio,
    -- Place of the last one in the order of events.
    last_seq,
    -- 1: some of what the pool did is not in this trace, so these are figures of what is; 0: it is all there.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    c.name,
    m.miss_count,
    m.missed_bytes,
    m.pending_miss_count,
    m.driver_count,
    nullif(m.driver_cost_ns, 0),
    CAST(m.miss_count AS REAL) / sum(m.miss_count) OVER (PARTITION BY m.heap_id),
    m.last_seq,
    (SELECT s.is_partial FROM z_pool_sum AS s WHERE s.heap_id = m.heap_id)
FROM (
    SELECT
        t.heap_id,
        CASE WHEN e.heap_id IS NULL OR NOT (t.cause = 5 OR (t.cause = 1 AND e.is_cold_known = 0)) THEN t.cause END
            AS cause,
        sum(t.miss_count) AS miss_count,
        sum(t.missed_bytes) AS missed_bytes,
        CASE WHEN e.heap_id IS NULL THEN sum(t.pending_miss_count) END AS pending_miss_count,
        sum(t.driver_count) AS driver_count,
        sum(t.driver_cost_ns) AS driver_cost_ns,
        max(t.last_seq) AS last_seq
    FROM z_pool_miss_sum AS t
    LEFT JOIN z_early_free AS e ON e.heap_id = t.heap_id
    GROUP BY t.heap_id, 2
) AS m
JOIN z_heap_place AS p ON p.heap_id = m.heap_id
LEFT JOIN z_miss_cause AS c ON c.cause = m.cause
ORDER BY m.heap_id, m.miss_count DESC, m.cause;

CREATE VIEW z_pool_miss_by_site (
    -- Where the requests come from for which each pool had to grow, and why; most misses first.
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
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- As in view z_pool_miss_by_cause. NULL: not known well enough.
    cause,
    -- Misses. Unit: allocations.
    miss_count,
    -- Their size, by the heap's size_basis. Unit: bytes.
    missed_bytes,
    -- Of these, how many memory would have served that was given up and not yet reusable. Unit: allocations. NULL: not
    -- known (view z_early_free).
    pending_miss_count,
    -- Driver allocations and mappings that they are the first block in. Unit: calls.
    driver_count,
    -- What is known of their cost. Unit: nanoseconds. NULL: nothing is.
    driver_cost_ns,
    -- Place of the last one in the order of events.
    last_seq,
    -- 1: some of what the pool did is not in this trace, so these are figures of what is; 0: it is all there.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    coalesce(f.label, '(no stack)'),
    c.name,
    m.miss_count,
    m.missed_bytes,
    m.pending_miss_count,
    m.driver_count,
    nullif(m.driver_cost_ns, 0),
    m.last_seq,
    (SELECT w.is_partial FROM z_pool_sum AS w WHERE w.heap_id = m.heap_id)
FROM (
    SELECT
        t.heap_id,
        s.site_frame_id,
        CASE WHEN e.heap_id IS NULL OR NOT (t.cause = 5 OR (t.cause = 1 AND e.is_cold_known = 0)) THEN t.cause END
            AS cause,
        sum(t.miss_count) AS miss_count,
        sum(t.missed_bytes) AS missed_bytes,
        CASE WHEN e.heap_id IS NULL THEN sum(t.pending_miss_count) END AS pending_miss_count,
        sum(t.driver_count) AS driver_count,
        sum(t.driver_cost_ns) AS driver_cost_ns,
        max(t.last_seq) AS last_seq
    FROM z_pool_miss_sum AS t
    LEFT JOIN stack AS s ON s.stack_id = t.stack_id
    LEFT JOIN z_early_free AS e ON e.heap_id = t.heap_id
    GROUP BY t.heap_id, s.site_frame_id, 3
) AS m
JOIN z_heap_place AS p ON p.heap_id = m.heap_id
LEFT JOIN z_miss_cause AS c ON c.cause = m.cause
LEFT JOIN frame AS f ON f.frame_id = m.site_frame_id
ORDER BY m.miss_count DESC, m.heap_id, m.site_frame_id, m.cause;

-- catalog: first 11, not counted
CREATE VIEW pool_by (
    -- What each pool did by one dimension at a time: class, size, step, stream, cause or site. Ask for one: WHERE dimension =
    -- 'size'. The rows of one dimension of a pool add up to its misses, so those of all of them are each miss six times over; of
    -- 'step' only where steps are known.
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
    -- 'class' (a caching allocator cuts small and large blocks from segments of their own), 'size' (of the request, in powers of
    -- two), 'step', 'stream', 'cause' (why it had to grow) or 'site' (where the requests come from for which it had to grow).
    dimension,
    -- Of the dimension: 'small' (up to the pool's bound for large blocks, 1 MiB unless it was declared with another) or 'large';
    -- bytes, from and to; number of the step, as the program counts; the stream; 'cold' (the first miss of its stream, private
    -- pool and class, or no step had ended), 'after_flush' (the pool had given back what would have been enough), 'growth' (the
    -- program holds more than ever), 'pending_free' (memory that was given up and not yet reusable would have served it) or
    -- 'fragmentation' (the pool held enough, but not in one piece that it would use); the site. NULL: before the first step; a
    -- stream or a cause that is not known.
    value,
    -- What of it, where there is more than one row: of a size 'small' or 'large'; 'warm-up' of a step that is one, or before the
    -- first; of a stream its private pool; of a site the cause. NULL: the other steps; no private pool; a cause that is not known; of
    -- classes and causes.
    part,
    -- What to sort by: the largest size of the row, the number of the step, the stream. NULL: of the other dimensions.
    number,
    -- Requests of which it is known whether they are misses; of a step all. Unit: allocations. NULL: of causes and sites.
    allocation_count,
    -- Of these, how many the pool served by itself. Unit: allocations. NULL: not known, or of causes and sites.
    hit_count,
    -- Of these, for how many it had to grow. Unit: allocations. NULL: not known.
    miss_count,
    -- hit_count / allocation_count. Unit: 0 to 1. NULL: no request, not known, or of causes and sites.
    hit_rate,
    -- Sum of the requests, by the heap's size_basis. Unit: bytes. NULL: of causes and sites.
    allocated_bytes,
    -- Sum of the misses. Unit: bytes. NULL: not known, for of this step only sums were kept.
    missed_bytes,
    -- 1 - missed_bytes / the size of requests that are hits or misses: what a large miss costs. Unit: 0 to 1. NULL: no request, not
    -- known, or of causes and sites.
    byte_hit_rate,
    -- Place of the last miss in the order of events. NULL: there was none, or of steps.
    last_miss_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, there was none, or of steps, causes and sites.
    last_miss_ns,
    -- Driver allocations and mappings that became the pool's segments; of a cause or site those that the misses are the first
    -- block in. Unit: calls. NULL: not known, or of classes, sizes and streams.
    driver_count,
    -- What is known of their cost. Unit: nanoseconds. NULL: nothing is, or of classes, sizes and streams.
    driver_cost_ns,
    -- 1: some of what the pool did is not in this trace, so these are figures of what is; 0: it is all there.
    is_partial
) AS
SELECT
    u.host, u.rank, u.pid, u.device, u.heap, u.level,
    u.dimension,
    u.value,
    u.part,
    u.number,
    u.allocation_count,
    u.hit_count,
    u.miss_count,
    u.hit_rate,
    u.allocated_bytes,
    u.missed_bytes,
    u.byte_hit_rate,
    u.last_miss_seq,
    u.last_miss_ns,
    u.driver_count,
    u.driver_cost_ns,
    u.is_partial
FROM (
    SELECT
        b.host, b.rank, b.pid, b.device, b.heap, b.level,
        'class' AS dimension,
        b.class AS value,
        NULL AS part,
        NULL AS number,
        b.allocation_count,
        b.hit_count,
        b.miss_count,
        b.hit_rate,
        b.allocated_bytes,
        b.missed_bytes,
        b.byte_hit_rate,
        b.last_miss_seq,
        b.last_miss_ns,
        NULL AS driver_count,
        NULL AS driver_cost_ns,
        b.is_partial
    FROM z_pool_by_class AS b
    UNION ALL
    SELECT
        b.host, b.rank, b.pid, b.device, b.heap, b.level,
        'size',
        b.min_bytes || ' to ' || b.max_bytes,
        b.class,
        b.max_bytes,
        b.allocation_count,
        b.hit_count,
        b.miss_count,
        b.hit_rate,
        b.allocated_bytes,
        b.missed_bytes,
        b.byte_hit_rate,
        b.last_miss_seq,
        b.last_miss_ns,
        NULL,
        NULL,
        b.is_partial
    FROM z_pool_by_size AS b
    UNION ALL
    SELECT
        b.host, b.rank, b.pid, b.device, b.heap, b.level,
        'step',
        CAST(b.step AS TEXT),
        CASE WHEN b.is_warm_up = 1 THEN 'warm-up' END,
        b.step,
        b.allocation_count,
        b.hit_count,
        b.miss_count,
        b.hit_rate,
        b.allocated_bytes,
        b.missed_bytes,
        b.byte_hit_rate,
        NULL,
        NULL,
        b.driver_count,
        b.driver_cost_ns,
        b.is_partial
    FROM z_pool_by_step AS b
    UNION ALL
    SELECT
        b.host, b.rank, b.pid, b.device, b.heap, b.level,
        'stream',
        CAST(b.stream AS TEXT),
        CAST(b.private_pool AS TEXT),
        b.stream,
        b.allocation_count,
        b.hit_count,
        b.miss_count,
        b.hit_rate,
        b.allocated_bytes,
        b.missed_bytes,
        b.byte_hit_rate,
        b.last_miss_seq,
        b.last_miss_ns,
        NULL,
        NULL,
        b.is_partial
    FROM z_pool_by_stream AS b
    UNION ALL
    SELECT
        b.host, b.rank, b.pid, b.device, b.heap, b.level,
        'cause',
        b.cause,
        NULL,
        NULL,
        NULL,
        NULL,
        b.miss_count,
        NULL,
        NULL,
        b.missed_bytes,
        NULL,
        b.last_seq,
        NULL,
        b.driver_count,
        b.driver_cost_ns,
        b.is_partial
    FROM z_pool_miss_by_cause AS b
    UNION ALL
    SELECT
        b.host, b.rank, b.pid, b.device, b.heap, b.level,
        'site',
        b.site,
        b.cause,
        NULL,
        NULL,
        NULL,
        b.miss_count,
        NULL,
        NULL,
        b.missed_bytes,
        NULL,
        b.last_seq,
        NULL,
        b.driver_count,
        b.driver_cost_ns,
        b.is_partial
    FROM z_pool_miss_by_site AS b
) AS u;
