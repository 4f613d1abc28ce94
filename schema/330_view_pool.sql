-- How well a pool works: fragmentation and hits.

-- catalog: in csv
CREATE VIEW fragmentation (
    -- How each pool's memory was cut up at each moment. fragmentation_ratio is near 1 by nature in a pool that caches
    -- segments: judge by stuck_bytes (inactive split) here, and by view health.
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
    -- 'peak' (of this heap), 'reserve' (of this pool), 'end', 'failure', or the text of the mark; moment_kind tells a mark of such a name apart.
    moment,
    -- Place in the order of events. NULL: before the first event.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- Bytes of the pool's segments; where none had been seen by then, what the pool stated. Unit: bytes.
    reserved_bytes,
    -- Bytes of them inside blocks. Unit: bytes.
    occupied_bytes,
    -- Bytes of them outside blocks. Unit: bytes.
    free_bytes,
    -- Largest free range; a range does not cross segments. Unit: bytes. NULL: not known, for no segment had been seen.
    largest_free_bytes,
    -- Free bytes in segments that hold something, which emptying the cache cannot give back. Unit: bytes. NULL: not
    -- known, for no segment had been seen.
    stuck_bytes,
    -- (free - largest free) / free; 0 when nothing is free. Unit: 0 to 1. NULL: the largest is not known.
    fragmentation_ratio,
    -- free / reserved; 0 when nothing is reserved. Unit: 0 to 1.
    idle_ratio,
    -- 1: computed from requested sizes, so gaps are too large, or from what the pool stated, or what other streams may still
    -- have used counts as free; 0: exact.
    is_estimate,
    -- Number of free ranges. Unit: ranges. NULL: not known, for no segment had been seen.
    gap_count,
    -- Which size of a block was used: 'requested' or 'block'.
    size_basis,
    -- What kind of moment it is: 'peak', 'reserve', 'end', 'mark', 'failure'.
    moment_kind,
    -- What the pool itself had stated last to hold. Unit: bytes. NULL: nothing yet.
    stated_reserved_bytes,
    -- What live blocks were given beyond what was asked for. Unit: bytes. NULL: one of the two sizes is not known of
    -- some.
    waste_bytes,
    -- 1: events were lost before the moment, so that blocks may be missing, or be there no more; 0: none were.
    is_doubtful,
    -- 1: what the process held when its recording began is not known, and not in these figures; 0: all is known.
    is_partial,
    -- Number of the moment.
    moment_id,
    -- Part of free_bytes, and of stuck_bytes, that lies inside blocks of which only the requested size is told, at least.
    -- Unit: bytes.
    min_rounding_bytes,
    -- The same at most. Unit: bytes. NULL: no bound is known.
    max_rounding_bytes
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    CASE WHEN m.kind = 3 THEN coalesce(m.name, '') ELSE k.name END,
    m.seq,
    m.ns,
    s.reserved_bytes,
    s.occupied_bytes,
    s.free_bytes,
    s.largest_free_bytes,
    s.stuck_bytes,
    CASE
        WHEN s.largest_free_bytes IS NULL THEN NULL
        WHEN s.free_bytes > 0 THEN CAST(s.free_bytes - s.largest_free_bytes AS REAL) / s.free_bytes
        ELSE 0.0
    END,
    CASE WHEN s.reserved_bytes > 0 THEN CAST(s.free_bytes AS REAL) / s.reserved_bytes ELSE 0.0 END,
    s.is_estimate OR s.heap_id IN (SELECT e.heap_id FROM z_early_free AS e),
    s.gap_count,
    s.size_basis,
    k.name,
    s.stated_reserved_bytes,
    s.waste_bytes,
    s.is_doubtful,
    s.is_partial,
    s.moment_id,
    s.min_rounding_bytes,
    s.max_rounding_bytes
FROM fragmentation_sample AS s
JOIN moment AS m ON m.moment_id = s.moment_id
JOIN z_moment_kind AS k ON k.kind = m.kind
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
ORDER BY s.heap_id, m.seq, m.kind, m.moment_id;

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
        WHEN h.allocation_count > 0 AND (h.all_miss_count > 0 OR NOT EXISTS (
            SELECT 1
            FROM heap
            JOIN process ON process.process_id = heap.process_id
            JOIN input ON input.input_id = process.input_id
            WHERE heap.heap_id = h.heap_id AND input.hit_basis <> 'exact'
        ))
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
        sum(z_pool_hit.miss_count) AS all_miss_count,
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
        h.miss_count,
        x.last_miss_seq,
        x.last_miss_ns
    FROM (SELECT z_pool_hit.heap_id, sum(z_pool_hit.miss_count) AS miss_count FROM z_pool_hit GROUP BY z_pool_hit.heap_id) AS h
    CROSS JOIN z_pool_bucket AS b
    LEFT JOIN z_pool_hit AS x ON x.heap_id = h.heap_id AND x.bucket = b.bucket
) AS h
JOIN z_heap_place AS p ON p.heap_id = h.heap_id
ORDER BY h.heap_id, h.bucket;
