-- How much was live over time.

CREATE TABLE usage (
    -- The timeline of a heap, in at most a few thousand buckets; the maximum in each is exact.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- First event of the bucket, in the order of events. NULL: what was live before the first event.
    first_seq INTEGER,
    -- Last event of the bucket. NULL: the bucket is what was live before the first event.
    last_seq INTEGER,
    -- Event at which live bytes were most. NULL: before the first event.
    max_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    max_ns INTEGER,
    -- Most live bytes in the bucket. Unit: bytes.
    max_live_bytes INTEGER NOT NULL,
    -- Live bytes at last_seq. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Live allocations at last_seq. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- What the pool held at last_seq, by peak.reserved_source. Unit: bytes. NULL: not a pool, or not known.
    reserved_bytes INTEGER,
    -- When last_seq was. Unit: nanoseconds since the recording began. NULL: not known.
    last_ns INTEGER
);

CREATE INDEX usage_heap ON usage (heap_id, last_seq);

-- catalog: first 16, in csv
CREATE VIEW timeline (
    -- How much was live, over time: one row per bucket, in order. What was live before the first event comes first, in a
    -- row without places and times.
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
    -- End of the bucket. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- Live at the end of the bucket. Unit: bytes.
    live_bytes,
    -- Most that was live within the bucket. Unit: bytes.
    max_live_bytes,
    -- What the pool held at the end of the bucket. Unit: bytes. NULL: not a pool, or not known.
    reserved_bytes,
    -- Live allocations at the end of the bucket. Unit: allocations.
    live_count,
    -- End of the bucket in the order of events. NULL: before the first event.
    last_seq,
    -- Where in the order of events max_live_bytes was reached first. NULL: before the first event.
    max_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    max_ns
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    u.last_ns,
    u.live_bytes,
    u.max_live_bytes,
    u.reserved_bytes,
    u.live_count,
    u.last_seq,
    u.max_seq,
    u.max_ns
FROM usage AS u
JOIN z_heap_place AS p ON p.heap_id = u.heap_id
ORDER BY u.heap_id, u.last_seq;

CREATE VIEW z_usage_average (
    -- How much each heap used, reserved and left idle on average over time, from its first event to the end of the recording:
    -- what a heap held long counts more than what it held for a moment. From the buckets of view timeline.
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
    -- End of the heap's first bucket, from which on it is averaged. Unit: nanoseconds since the recording began.
    begin_ns,
    -- How long that is, to the last event of any heap of the input. Unit: nanoseconds.
    duration_ns,
    -- Live, on average. Unit: bytes. NULL: no time passed.
    mean_live_bytes,
    -- What the pool held, on average over the time of which that is known. Unit: bytes. NULL: not a pool, or not known.
    mean_reserved_bytes,
    -- Reserved and not live, on average over the same time. Unit: bytes. NULL: as mean_reserved_bytes.
    mean_idle_bytes,
    -- mean_idle_bytes over mean_reserved_bytes. Unit: 0 to 1. NULL: as mean_reserved_bytes, or nothing was reserved.
    mean_idle_ratio,
    -- mean_live_bytes over the peak of the heap: near 1 is steady, near 0 a short peak. Unit: 0 to 1. NULL: no time passed, or
    -- the peak is 0.
    mean_to_peak_ratio,
    -- 1: some buckets are of several events, for which the mean of their begin and end stands; 0: exact.
    is_estimate
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    w.begin_ns,
    w.duration_ns,
    CASE WHEN w.duration_ns > 0 THEN w.live_area / w.duration_ns END,
    CASE WHEN w.reserved_ns > 0 THEN w.reserved_area / w.reserved_ns END,
    CASE WHEN w.reserved_ns > 0 THEN w.idle_area / w.reserved_ns END,
    CASE WHEN w.reserved_area > 0 THEN w.idle_area / w.reserved_area END,
    CASE WHEN w.duration_ns > 0 AND s.peak_bytes > 0 THEN w.live_area / w.duration_ns / s.peak_bytes END,
    w.is_estimate
FROM (
    SELECT
        g.heap_id,
        min(g.begin_ns) AS begin_ns,
        sum(g.end_ns - g.begin_ns) AS duration_ns,
        sum(g.live_bytes * (g.end_ns - g.begin_ns)) AS live_area,
        sum(CASE WHEN g.reserved_bytes IS NOT NULL THEN g.end_ns - g.begin_ns END) AS reserved_ns,
        sum(g.reserved_bytes * (g.end_ns - g.begin_ns)) AS reserved_area,
        sum((g.reserved_bytes - g.live_bytes) * (g.end_ns - g.begin_ns)) AS idle_area,
        max(g.is_estimate AND g.end_ns > g.begin_ns) AS is_estimate
    FROM (
        SELECT
            u.heap_id,
            u.last_ns AS begin_ns,
            coalesce(n.last_ns, d.last_ns) AS end_ns,
            CASE
                WHEN n.first_seq < n.last_seq THEN (u.live_bytes + n.live_bytes) / 2.0
                ELSE 1.0 * u.live_bytes
            END AS live_bytes,
            CASE
                WHEN n.first_seq < n.last_seq THEN (u.reserved_bytes + n.reserved_bytes) / 2.0
                ELSE 1.0 * u.reserved_bytes
            END AS reserved_bytes,
            coalesce(n.first_seq < n.last_seq, 0) AS is_estimate
        FROM usage AS u
        JOIN z_heap_place AS h ON h.heap_id = u.heap_id
        JOIN (
            SELECT
                q.input_id,
                max(x.last_ns) AS last_ns
            FROM usage AS x
            JOIN z_heap_place AS q ON q.heap_id = x.heap_id
            GROUP BY q.input_id
        ) AS d ON d.input_id = h.input_id
        LEFT JOIN usage AS n
            ON n.heap_id = u.heap_id
            AND n.last_seq = (SELECT min(y.last_seq) FROM usage AS y WHERE y.heap_id = u.heap_id AND y.last_seq > u.last_seq)
        WHERE u.last_ns IS NOT NULL
    ) AS g
    GROUP BY g.heap_id
) AS w
JOIN z_heap_sum AS s ON s.heap_id = w.heap_id
JOIN z_heap_place AS p ON p.heap_id = w.heap_id
ORDER BY w.heap_id;
