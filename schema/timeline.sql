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
