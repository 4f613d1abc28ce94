-- What being cut up has cost a pool, and when it was worst.

CREATE TABLE z_pool_growth (
    -- The request that took a part of a pool to the largest that it ever was, and what was free in that part although it had
    -- to grow; of several to the same size the one with most of it. Shown by the view z_fragmentation_verdict.
    --
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The part.
    part_id INTEGER NOT NULL REFERENCES z_pool_part (part_id),
    -- Place of the request in the order of events.
    seq INTEGER NOT NULL,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- What was asked for. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- What the pool held then, with the new segment. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- What the part held then, with the new segment. Unit: bytes.
    part_reserved_bytes INTEGER NOT NULL,
    -- Free then in the part, without what is left over of the new segment. Unit: bytes.
    free_bytes INTEGER NOT NULL,
    -- Part of free_bytes that lies inside blocks of which only the requested size is told, at least. Unit: bytes.
    min_rounding_bytes INTEGER NOT NULL,
    -- The same at most. Unit: bytes.
    max_rounding_bytes INTEGER NOT NULL,
    -- 1: events were lost before it; 0: none were.
    is_doubtful INTEGER NOT NULL,
    -- 1: what the process held when its recording began is not known; 0: all is known.
    is_partial INTEGER NOT NULL
);

CREATE VIEW z_fragmentation_verdict (
    -- How much of what each pool had reserved was unused where that hurt, and whether it is too much. 'peak': at the peak of
    -- what was live; 'growth': when a part of it grew to the largest that it ever was, beside what was free in that part (of
    -- the parts the one with most of it); 'failure': when an allocation failed (of all failures on the device the one with the
    -- largest share); 'reserve': when it held most, if that was more than at the peak: beyond what its blocks took then, and beyond
    -- what they ever took at once; 'end': of a pool of which neither an allocation nor a free was seen, so that nobody knows its peak. Each row is of one moment. Of many snapshots only requested sizes are known: what blocks were given beyond that
    -- is bounded, so there are two figures, at least and at most.
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
    -- 'peak', 'growth', 'failure', 'reserve' or 'end'.
    moment,
    -- Number of the moment. NULL: none ('growth').
    moment_id,
    -- Place in the order of events. NULL: before the first event.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- What the pool held of the driver's memory. Unit: bytes.
    reserved_bytes,
    -- Of these, what no block took, at least; 'growth': in the part of the pool that the request belongs to, without what is
    -- left over of its new segment; 'failure', 'end': in segments that hold something (inactive split), for the rest can be given
    -- back; 'reserve': what was never used at once, without what came for a request that was not served then. Unit: bytes.
    min_unused_bytes,
    -- The same at most. Unit: bytes.
    max_unused_bytes,
    -- min_unused_bytes / reserved_bytes. Unit: 0 to 1.
    min_ratio,
    -- max_unused_bytes / reserved_bytes. Unit: 0 to 1.
    max_ratio,
    -- Free bytes in segments that hold something, which emptying the cache cannot give back, at most. Unit: bytes. NULL: not
    -- known.
    inactive_split_bytes,
    -- What was asked for ('growth', 'failure'). Unit: bytes. NULL: not known.
    requested_bytes,
    -- Below it nothing is called a warning or a danger (npumem-ingest --threshold). Unit: bytes.
    floor_bytes,
    -- 'good' (at most 10 %), 'warning' (at least), 'danger' (at least 30 %), 'minor' (below the floor) or 'unknown'.
    verdict,
    -- Why it is 'unknown', as health.reason. NULL: it is not.
    reason,
    -- Number of the heap.
    heap_id
) AS
-- Where it is looked at: what is free there at most, and how much of that may not be.
WITH at_moment AS (
    SELECT
        s.heap_id AS heap_id,
        CASE WHEN s.allocation_count + s.free_count > 0 THEN 'peak' ELSE 'end' END AS moment,
        m.moment_id AS moment_id,
        s.peak_seq AS seq,
        s.peak_ns AS ns,
        coalesce(k.reserved_bytes, s.reserved_at_peak_bytes) AS reserved_bytes,
        coalesce(
            CASE WHEN s.allocation_count + s.free_count = 0 THEN k.stuck_bytes END,
            k.free_bytes,
            max(0, s.reserved_at_peak_bytes - s.peak_bytes)
        ) AS unused_bytes,
        coalesce(k.min_rounding_bytes, 0) AS min_rounding_bytes,
        CASE
            WHEN k.heap_id IS NOT NULL THEN k.max_rounding_bytes
            WHEN h.size_basis = 'block' THEN 0
        END AS max_rounding_bytes,
        k.stuck_bytes AS stuck_bytes,
        NULL AS requested_bytes,
        coalesce(k.is_doubtful OR k.is_partial, 0) AS is_lossy
    FROM z_heap_sum AS s
    JOIN heap AS h ON h.heap_id = s.heap_id
    LEFT JOIN moment AS m ON m.heap_id = s.heap_id AND m.kind = 1
    LEFT JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id AND k.heap_id = s.heap_id
    UNION ALL
    SELECT
        g.heap_id,
        'growth',
        NULL,
        g.seq,
        g.ns,
        g.reserved_bytes,
        g.free_bytes,
        g.min_rounding_bytes,
        g.max_rounding_bytes,
        NULL,
        g.size_bytes,
        g.is_doubtful OR g.is_partial
    FROM (
        SELECT
            o.heap_id,
            o.seq,
            o.ns,
            o.size_bytes,
            o.reserved_bytes,
            o.free_bytes,
            o.min_rounding_bytes,
            o.max_rounding_bytes,
            o.is_doubtful,
            o.is_partial,
            row_number() OVER (
                PARTITION BY o.heap_id
                ORDER BY max(o.free_bytes - o.max_rounding_bytes, 0) DESC, o.free_bytes DESC, o.part_id
            ) AS place
        FROM z_pool_growth AS o
    ) AS g
    WHERE g.place = 1
    UNION ALL
    SELECT
        w.heap_id,
        'failure',
        w.moment_id,
        w.seq,
        w.ns,
        w.reserved_bytes,
        w.stuck_bytes,
        w.min_rounding_bytes,
        w.max_rounding_bytes,
        w.stuck_bytes,
        w.requested_bytes,
        w.is_lossy
    FROM (
        SELECT
            k.heap_id AS heap_id,
            m.moment_id AS moment_id,
            m.seq AS seq,
            m.ns AS ns,
            k.reserved_bytes AS reserved_bytes,
            k.stuck_bytes AS stuck_bytes,
            k.min_rounding_bytes AS min_rounding_bytes,
            k.max_rounding_bytes AS max_rounding_bytes,
            nullif(f.requested_bytes, 0) AS requested_bytes,
            k.is_doubtful OR k.is_partial AS is_lossy,
            row_number() OVER (
                PARTITION BY k.heap_id
                ORDER BY max(k.stuck_bytes - coalesce(k.max_rounding_bytes, k.stuck_bytes), 0) * 1.0 / k.reserved_bytes DESC,
                    m.moment_id
            ) AS place
        FROM moment AS m
        JOIN failure AS f ON f.failure_id = m.failure_id
        JOIN heap AS a ON a.heap_id = f.heap_id
        JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id
        JOIN heap AS h ON h.heap_id = k.heap_id
        WHERE m.kind = 4 AND a.device_id = h.device_id AND k.reserved_bytes > 0 AND k.stuck_bytes IS NOT NULL
            AND coalesce(f.error_code, 0) <> 207005
    ) AS w
    WHERE w.place = 1
    UNION ALL
    SELECT
        w.heap_id,
        'reserve',
        w.moment_id,
        w.seq,
        w.ns,
        w.reserved_bytes,
        max(w.reserved_bytes - max(w.occupied_bytes, b.occupied_bytes), 0),
        max(w.occupied_bytes + w.min_rounding_bytes, b.occupied_bytes + b.min_rounding_bytes)
            - max(w.occupied_bytes, b.occupied_bytes),
        max(w.occupied_bytes + w.max_rounding_bytes, b.occupied_bytes + b.max_rounding_bytes)
            - max(w.occupied_bytes, b.occupied_bytes),
        w.stuck_bytes,
        NULL,
        w.is_lossy
    FROM (
        SELECT
            k.heap_id AS heap_id,
            m.moment_id AS moment_id,
            m.seq AS seq,
            m.ns AS ns,
            k.reserved_bytes AS reserved_bytes,
            -- What had come for a request that was not served then is no waste.
            k.occupied_bytes + coalesce((
                SELECT min(x.fresh_bytes, x.free_bytes)
                FROM z_heap_sample AS x
                WHERE x.heap_id = k.heap_id
                    AND x.since_seq = (SELECT max(y.since_seq) FROM z_heap_sample AS y WHERE y.heap_id = k.heap_id AND y.since_seq <= m.seq)
            ), 0) AS occupied_bytes,
            k.min_rounding_bytes AS min_rounding_bytes,
            k.max_rounding_bytes AS max_rounding_bytes,
            k.stuck_bytes AS stuck_bytes,
            k.is_doubtful OR k.is_partial AS is_lossy
        FROM moment AS m
        JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id
        WHERE m.kind = 6
    ) AS w
    JOIN moment AS q ON q.heap_id = w.heap_id AND q.kind = 1
    JOIN fragmentation_sample AS b ON b.moment_id = q.moment_id
)
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    v.moment,
    v.moment_id,
    v.seq,
    v.ns,
    v.reserved_bytes,
    v.min_unused_bytes,
    v.max_unused_bytes,
    v.min_ratio,
    v.max_ratio,
    v.inactive_split_bytes,
    v.requested_bytes,
    v.floor_bytes,
    CASE
        WHEN v.is_lossy THEN 'unknown'
        WHEN v.max_ratio < 0.1 THEN 'good'
        WHEN v.max_unused_bytes < v.floor_bytes THEN 'minor'
        WHEN v.min_ratio < 0.1 THEN 'unknown'
        WHEN v.min_unused_bytes < v.floor_bytes THEN 'minor'
        WHEN v.min_ratio <= 0.3 THEN 'warning'
        ELSE 'danger'
    END,
    CASE
        WHEN v.is_lossy THEN 'not all was recorded'
        WHEN v.max_ratio < 0.1 OR v.max_unused_bytes < v.floor_bytes OR v.min_ratio >= 0.1 THEN NULL
        WHEN v.is_early THEN 'other streams may use it'
        ELSE 'sizes as requested alone'
    END,
    v.heap_id
FROM (
    SELECT
        u.heap_id AS heap_id,
        u.moment AS moment,
        u.moment_id AS moment_id,
        u.seq AS seq,
        u.ns AS ns,
        u.reserved_bytes AS reserved_bytes,
        u.min_unused_bytes AS min_unused_bytes,
        u.unused_bytes AS max_unused_bytes,
        CAST(u.min_unused_bytes AS REAL) / u.reserved_bytes AS min_ratio,
        CAST(u.unused_bytes AS REAL) / u.reserved_bytes AS max_ratio,
        max(u.stuck_bytes - u.min_rounding_bytes, 0) AS inactive_split_bytes,
        u.requested_bytes AS requested_bytes,
        max(t.floor, CAST(t.capacity_ratio * coalesce(u.capacity_bytes, 0) AS INTEGER)) AS floor_bytes,
        u.is_lossy AS is_lossy,
        u.is_early AS is_early
    FROM (
        SELECT
            a.heap_id AS heap_id,
            a.moment AS moment,
            a.moment_id AS moment_id,
            a.seq AS seq,
            a.ns AS ns,
            a.reserved_bytes AS reserved_bytes,
            max(a.unused_bytes - a.min_rounding_bytes, 0) AS unused_bytes,
            max(
                a.unused_bytes - coalesce(a.max_rounding_bytes, a.unused_bytes)
                    - CASE WHEN e.heap_id IS NULL THEN 0 ELSE coalesce(e.max_pending_bound_bytes, a.unused_bytes) END,
                0
            ) AS min_unused_bytes,
            a.stuck_bytes AS stuck_bytes,
            a.min_rounding_bytes AS min_rounding_bytes,
            a.requested_bytes AS requested_bytes,
            a.is_lossy OR i.events_seen > i.events_ingested + i.events_unkept OR i.bytes_cut > 0
                OR i.unknown_reference_count > 0 OR i.baseline = 'unknown' OR s.is_whole_run = 0
                OR EXISTS (SELECT 1 FROM z_pause AS w WHERE w.process_id = q.process_id AND w.is_memory_told = 0)
                AS is_lossy,
            e.heap_id IS NOT NULL AS is_early,
            d.capacity_bytes AS capacity_bytes
        FROM at_moment AS a
        JOIN z_heap_sum AS s ON s.heap_id = a.heap_id
        JOIN heap AS h ON h.heap_id = a.heap_id
        LEFT JOIN device AS d ON d.device_id = h.device_id
        LEFT JOIN process AS q ON q.process_id = h.process_id
        LEFT JOIN input AS i ON i.input_id = q.input_id
        LEFT JOIN z_early_free AS e ON e.heap_id = a.heap_id
        WHERE a.reserved_bytes > 0 AND h.level IN (2, 3)
    ) AS u
    CROSS JOIN z_threshold AS t
    WHERE t.measure = 'fragmentation'
) AS v
JOIN z_heap_place AS p ON p.heap_id = v.heap_id
ORDER BY v.heap_id, CASE v.moment WHEN 'growth' THEN 1 WHEN 'failure' THEN 2 WHEN 'reserve' THEN 3 ELSE 0 END;
