-- How often a pool served a request by itself.

CREATE TABLE z_pool_bucket (
    -- Words for z_pool_hit.bucket.
    --
    -- Code, by requested size.
    bucket INTEGER PRIMARY KEY,
    -- small: below 4 KiB; medium; large: above 1 MiB; unless the pool was declared with other bounds.
    name TEXT NOT NULL
);

INSERT INTO z_pool_bucket VALUES (0, 'small'), (1, 'medium'), (2, 'large');

CREATE TABLE z_pool_hit (
    -- How often a pool served a request by itself, by size of the request. Shown by the view pool_hit_rate.
    --
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- A code of z_pool_bucket.
    bucket INTEGER NOT NULL REFERENCES z_pool_bucket (bucket),
    -- Requests of that size. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Requests for which the pool had to grow. Unit: allocations.
    miss_count INTEGER NOT NULL,
    -- Place of the last such request in the order of events. NULL: there was none.
    last_miss_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns INTEGER
);

CREATE INDEX pool_hit_heap ON z_pool_hit (heap_id, bucket);

CREATE VIEW z_hit_known (
    -- Pools of which a hit rate can be told: the input says of each request whether the pool had to grow, or one for which it
    -- had to was seen.
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
    -- Number of the heap.
    heap_id
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    h.heap_id
FROM (SELECT z_pool_hit.heap_id, sum(z_pool_hit.miss_count) AS miss_count FROM z_pool_hit GROUP BY z_pool_hit.heap_id) AS h
JOIN z_heap_place AS p ON p.heap_id = h.heap_id
LEFT JOIN input AS i ON i.input_id = p.input_id
WHERE h.miss_count > 0 OR coalesce(i.hit_basis, 'exact') = 'exact'
ORDER BY h.heap_id;

-- catalog: in csv
CREATE VIEW pool_hit_rate (
    -- How often each pool served a request by itself, by size of the request. Bounds of the buckets: table heap.
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
    -- all, small, medium or large.
    bucket,
    -- Requests of that size. Unit: allocations.
    allocation_count,
    -- Requests that the pool served by itself. Unit: allocations.
    hit_count,
    -- Requests for which the pool had to grow. Unit: allocations.
    miss_count,
    -- hit_count / allocation_count. Unit: 0 to 1. NULL: no request, or no miss was seen and the input allows but an estimate.
    hit_rate,
    -- Place of the last miss in the order of events. NULL: there was none.
    last_miss_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known, or there was none.
    last_miss_ns,
    -- 1: some of what the pool did is not in this trace, so these are figures of what is; 0: it is all there.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    h.bucket_name,
    h.allocation_count,
    h.allocation_count - h.miss_count,
    h.miss_count,
    CASE
        WHEN h.allocation_count > 0 AND h.heap_id IN (SELECT k.heap_id FROM z_hit_known AS k)
            THEN CAST(h.allocation_count - h.miss_count AS REAL) / h.allocation_count
    END,
    h.last_miss_seq,
    h.last_miss_ns,
    (SELECT s.is_partial FROM z_pool_sum AS s WHERE s.heap_id = h.heap_id)
FROM (
    SELECT
        z_pool_hit.heap_id,
        -1 AS bucket,
        'all' AS bucket_name,
        sum(z_pool_hit.allocation_count) AS allocation_count,
        sum(z_pool_hit.miss_count) AS miss_count,
        max(z_pool_hit.last_miss_seq) AS last_miss_seq,
        max(z_pool_hit.last_miss_ns) AS last_miss_ns
    FROM z_pool_hit
    GROUP BY z_pool_hit.heap_id
    UNION ALL
    SELECT
        h.heap_id,
        b.bucket,
        b.name,
        coalesce(x.allocation_count, 0),
        coalesce(x.miss_count, 0),
        x.last_miss_seq,
        x.last_miss_ns
    FROM (SELECT DISTINCT z_pool_hit.heap_id FROM z_pool_hit) AS h
    CROSS JOIN z_pool_bucket AS b
    LEFT JOIN z_pool_hit AS x ON x.heap_id = h.heap_id AND x.bucket = b.bucket
) AS h
JOIN z_heap_place AS p ON p.heap_id = h.heap_id
ORDER BY h.heap_id, h.bucket;
