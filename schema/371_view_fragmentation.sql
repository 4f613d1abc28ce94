-- How the memory of pools is cut up: by part, by size of the free ranges, by who is in the way, and over time.

CREATE VIEW z_fragmentation_part (
    -- View fragmentation by part of the pool: segments of one kind, stream and private pool. A request is served from
    -- one part alone, so a large free range in another does not help it.
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
    -- begin moment
    -- 'peak' (of this heap), 'reserve' (of this pool), 'end', 'failure', or the text of the mark.
    moment,
    -- What kind of moment it is: 'peak', 'reserve', 'end', 'mark', 'failure'.
    moment_kind,
    -- Number of the moment.
    moment_id,
    -- Place in the order of events. NULL: before the first event.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- end moment
    -- Kind of the part's segments: 'small', 'large', 'expandable', 'other', or 'rest' for all parts after the 64th.
    segment_kind,
    -- The stream that the segments were allocated for, or where the driver was not told that of the first block in them.
    -- NULL: not known.
    stream,
    -- Number of a private pool. NULL: the default pool, or none known.
    private_pool,
    -- Bytes of the part's segments. Unit: bytes.
    reserved_bytes,
    -- Bytes of them inside blocks. Unit: bytes.
    occupied_bytes,
    -- Bytes of them outside blocks. Unit: bytes.
    free_bytes,
    -- Largest free range. Unit: bytes.
    largest_free_bytes,
    -- Number of free ranges. Unit: ranges.
    gap_count,
    -- Free bytes in segments that hold something, which emptying the cache cannot give back. Unit: bytes.
    stuck_bytes,
    -- What live blocks were given beyond what was asked for. Unit: bytes. NULL: one of the two sizes is not known of
    -- some.
    waste_bytes,
    -- (free - largest free) / free; 0 when nothing is free. Unit: 0 to 1.
    fragmentation_ratio,
    -- 1: computed from requested sizes, so gaps are too large, or from what the pool stated; 0: exact.
    is_estimate,
    -- 1: events were lost before it, so that blocks may be missing, or be there no more; 0: none were.
    is_doubtful,
    -- 1: what the process held when its recording began is not known, and not in these figures; 0: all is known.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    CASE WHEN m.kind = 3 THEN coalesce(m.name, '') ELSE k.name END,
    k.name,
    m.moment_id,
    m.seq,
    m.ns,
    coalesce(c.name, 'rest'),
    q.stream,
    q.private_pool,
    s.reserved_bytes,
    s.reserved_bytes - s.free_bytes,
    s.free_bytes,
    s.largest_free_bytes,
    s.gap_count,
    s.stuck_bytes,
    s.waste_bytes,
    CASE
        WHEN s.free_bytes > 0 THEN CAST(s.free_bytes - s.largest_free_bytes AS REAL) / s.free_bytes
        ELSE 0.0
    END,
    w.is_estimate,
    w.is_doubtful,
    w.is_partial
FROM z_part_sample AS s
JOIN z_pool_part AS q ON q.part_id = s.part_id
JOIN fragmentation_sample AS w ON w.heap_id = q.heap_id AND w.moment_id = s.moment_id
JOIN moment AS m ON m.moment_id = s.moment_id
JOIN z_moment_kind AS k ON k.kind = m.kind
JOIN z_heap_place AS p ON p.heap_id = q.heap_id
LEFT JOIN z_segment_kind AS c ON c.segment_kind = q.segment_kind
ORDER BY q.heap_id, m.seq, m.kind, m.moment_id, q.part_id;

CREATE VIEW z_free_range (
    -- The free ranges of each part of a pool at each moment, by size. A request fits where some range has as many
    -- bytes: queries/would_fit.sql asks.
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
    -- begin moment
    -- 'peak' (of this heap), 'reserve' (of this pool), 'end', 'failure', or the text of the mark.
    moment,
    -- What kind of moment it is: 'peak', 'reserve', 'end', 'mark', 'failure'.
    moment_kind,
    -- Number of the moment.
    moment_id,
    -- Place in the order of events. NULL: before the first event.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- end moment
    -- Kind of the part's segments: 'small', 'large', 'expandable', 'other', or 'rest' for all parts after the 64th.
    segment_kind,
    -- The stream that the segments were allocated for, or where the driver was not told that of the first block in them.
    -- NULL: not known.
    stream,
    -- Number of a private pool. NULL: the default pool, or none known.
    private_pool,
    -- A power of two: the ranges have so many bytes or more, and less than twice as many. Unit: bytes.
    class_bytes,
    -- Free ranges of that size. Unit: ranges.
    gap_count,
    -- Bytes of them all. Unit: bytes.
    free_bytes,
    -- The largest of them. Unit: bytes.
    largest_bytes,
    -- 1: computed from requested sizes, so gaps are too large, or from what the pool stated; 0: exact.
    is_estimate,
    -- 1: events were lost before it, so that blocks may be missing, or be there no more; 0: none were.
    is_doubtful,
    -- 1: what the process held when its recording began is not known, and not in these figures; 0: all is known.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    CASE WHEN m.kind = 3 THEN coalesce(m.name, '') ELSE k.name END,
    k.name,
    m.moment_id,
    m.seq,
    m.ns,
    coalesce(c.name, 'rest'),
    q.stream,
    q.private_pool,
    g.class_bytes,
    g.gap_count,
    g.free_bytes,
    g.largest_bytes,
    w.is_estimate,
    w.is_doubtful,
    w.is_partial
FROM z_gap AS g
JOIN z_pool_part AS q ON q.part_id = g.part_id
JOIN fragmentation_sample AS w ON w.heap_id = g.heap_id AND w.moment_id = g.moment_id
JOIN moment AS m ON m.moment_id = g.moment_id
JOIN z_moment_kind AS k ON k.kind = m.kind
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN z_segment_kind AS c ON c.segment_kind = q.segment_kind
ORDER BY g.heap_id, m.seq, m.kind, m.moment_id, g.part_id, g.class_bytes;

CREATE VIEW z_fragmentation_timeline (
    -- How each pool and each of its parts were cut up over time: figures at the end of each bucket, and the extremes in
    -- it, which are exact. Driver memory has no such figures, for virtual addresses say nothing of what is free.
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
    -- Kind of the part's segments: 'small', 'large', 'expandable', 'other', 'rest' for all parts after the 64th; 'all'
    -- for the whole pool.
    segment_kind,
    -- The stream that the segments were allocated for, or where the driver was not told that of the first block in them.
    -- NULL: not known.
    stream,
    -- Number of a private pool. NULL: the default pool, or none known.
    private_pool,
    -- First event of the bucket, in the order of events.
    first_seq,
    -- Last event of the bucket.
    last_seq,
    -- When last_seq was. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- Bytes of the segments at last_seq; where none had been seen by then, what the pool stated. Unit: bytes.
    reserved_bytes,
    -- Bytes of them inside blocks at last_seq. Unit: bytes.
    occupied_bytes,
    -- Bytes of them outside blocks at last_seq. Unit: bytes.
    free_bytes,
    -- Largest free range at last_seq. Unit: bytes. NULL: not known, as no segment had been seen at some event.
    largest_free_bytes,
    -- Number of free ranges at last_seq. Unit: ranges. NULL: as above.
    gap_count,
    -- Free bytes in segments that hold something, at last_seq. Unit: bytes. NULL: as above.
    stuck_bytes,
    -- What live blocks were given beyond what was asked for, at last_seq. Unit: bytes. NULL: not known.
    waste_bytes,
    -- Most reserved bytes in the bucket. Unit: bytes.
    max_reserved_bytes,
    -- Most bytes inside blocks. Unit: bytes.
    max_occupied_bytes,
    -- Most free bytes. Unit: bytes.
    max_free_bytes,
    -- Event at which free bytes were most.
    max_free_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    max_free_ns,
    -- Least that the largest free range had: a larger request failed at least once. Unit: bytes. NULL: not known.
    min_largest_free_bytes,
    -- Most free ranges. Unit: ranges. NULL: not known.
    max_gap_count,
    -- Most that was inactive split (stuck_bytes). Unit: bytes. NULL: not known.
    max_stuck_bytes,
    -- Event at which most was inactive split. NULL: not known.
    max_stuck_seq,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    max_stuck_ns,
    -- Most waste. Unit: bytes. NULL: not known at some event of the bucket.
    max_waste_bytes,
    -- 1: computed from requested sizes, so gaps are too large, or from what the pool stated; 0: exact.
    is_estimate,
    -- 1: events were lost before its end, so that blocks may be missing, or be there no more; 0: none were.
    is_doubtful,
    -- 1: what the process held when its recording began is not known, and not in these figures; 0: all is known.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    CASE WHEN u.part_id IS NULL THEN 'all' ELSE coalesce(c.name, 'rest') END,
    q.stream,
    q.private_pool,
    u.first_seq,
    u.last_seq,
    u.last_ns,
    u.reserved_bytes,
    u.reserved_bytes - u.free_bytes,
    u.free_bytes,
    u.largest_free_bytes,
    u.gap_count,
    u.stuck_bytes,
    u.waste_bytes,
    u.max_reserved_bytes,
    u.max_occupied_bytes,
    u.max_free_bytes,
    u.max_free_seq,
    u.max_free_ns,
    u.min_largest_free_bytes,
    u.max_gap_count,
    u.max_stuck_bytes,
    u.max_stuck_seq,
    u.max_stuck_ns,
    u.max_waste_bytes,
    u.is_estimate,
    u.is_doubtful,
    u.is_partial
FROM z_fragmentation_usage AS u
JOIN z_heap_place AS p ON p.heap_id = u.heap_id
LEFT JOIN z_pool_part AS q ON q.part_id = u.part_id
LEFT JOIN z_segment_kind AS c ON c.segment_kind = q.segment_kind
ORDER BY u.heap_id, u.part_id, u.last_seq;

-- catalog: not counted
CREATE VIEW fragmentation_blocker (
    -- Who keeps segments from being empty at each moment, by site; most first. The free bytes of a segment that holds
    -- blocks are split evenly over these blocks, however large they are, so that hostage_bytes of a pool at a moment
    -- add up to its stuck_bytes: they are what the pool could not give back because of the site.
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
    -- begin moment
    -- 'peak' (of this heap), 'reserve' (of this pool), 'end', 'failure', or the text of the mark.
    moment,
    -- What kind of moment it is: 'peak', 'reserve', 'end', 'mark', 'failure'.
    moment_kind,
    -- Number of the moment.
    moment_id,
    -- Place in the order of events. NULL: before the first event.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- end moment
    -- Where: 'file:line function', 'module+0xoffset function', '(no stack)', '(baseline)' for what was there before and
    -- has no stack, or '(others)' for all stacks after the 64 with most (at marks and failures 16).
    site,
    -- 1: blocks that were there before the recording began; 0: allocated in it.
    is_baseline,
    -- Blocks of the site in segments that have free bytes. Unit: allocations.
    block_count,
    -- Their size. Unit: bytes.
    block_bytes,
    -- Free bytes that they hold. Unit: bytes. NULL: events were lost, so nothing is claimed.
    hostage_bytes,
    -- hostage_bytes over what is inactive split in the pool. Unit: 0 to 1. NULL: as above.
    hostage_ratio,
    -- Segments that they lie in; one that holds blocks of several stacks of the site counts for each. Unit: segments.
    -- NULL: of '(others)'.
    segment_count,
    -- Segments with blocks of one stack of the site alone: they would be empty without. Unit: segments. NULL: as
    -- hostage_bytes.
    sole_segment_count,
    -- Free bytes of those. Unit: bytes. NULL: as hostage_bytes.
    sole_hostage_bytes,
    -- Birth of the oldest in the order of events. NULL: before the first event.
    oldest_seq,
    -- How many events before the moment that was. Unit: events. NULL: before the first event.
    age_events,
    -- How long before the moment. Unit: nanoseconds. NULL: not known, or before the first event.
    age_ns,
    -- The block that holds most. NULL: not known, or of '(others)'.
    worst_allocation_id,
    -- Its first address, hexadecimal. NULL: of '(others)'.
    worst_address,
    -- Its size. Unit: bytes. NULL: of '(others)'.
    worst_block_bytes,
    -- The free bytes that it holds. Unit: bytes. NULL: as hostage_bytes, and of '(others)'.
    worst_hostage_bytes,
    -- 1: computed from requested sizes, so gaps are too large, or from what the pool stated; 0: exact.
    is_estimate,
    -- 1: events were lost before it, so that blocks may be missing, or be there no more; 0: none were.
    is_doubtful,
    -- 1: what the process held when its recording began is not known, and not in these figures; 0: all is known.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    CASE WHEN m.kind = 3 THEN coalesce(m.name, '') ELSE k.name END,
    k.name,
    m.moment_id,
    m.seq,
    m.ns,
    CASE
        WHEN g.is_rest = 1 THEN '(others)'
        WHEN f.label IS NULL AND g.is_baseline = 1 THEN '(baseline)'
        ELSE coalesce(f.label, '(no stack)')
    END,
    CASE WHEN g.is_rest = 0 THEN g.is_baseline END,
    g.block_count,
    g.block_bytes,
    CASE WHEN w.is_doubtful = 0 THEN g.hostage_bytes END,
    CASE WHEN w.is_doubtful = 0 AND w.stuck_bytes > 0 THEN CAST(g.hostage_bytes AS REAL) / w.stuck_bytes END,
    g.segment_count,
    CASE WHEN w.is_doubtful = 0 THEN g.sole_segment_count END,
    CASE WHEN w.is_doubtful = 0 THEN g.sole_hostage_bytes END,
    g.oldest_seq,
    m.seq - g.oldest_seq,
    m.ns - g.oldest_ns,
    g.worst_allocation_id,
    CASE WHEN g.worst_address IS NOT NULL THEN printf('0x%x', g.worst_address) END,
    g.worst_block_bytes,
    CASE WHEN w.is_doubtful = 0 THEN g.worst_hostage_bytes END,
    w.is_estimate,
    w.is_doubtful,
    w.is_partial
FROM (
    SELECT
        b.moment_id,
        b.heap_id,
        b.is_rest,
        b.is_baseline,
        b.site_frame_id,
        sum(b.block_count) AS block_count,
        sum(b.block_bytes) AS block_bytes,
        sum(b.hostage_bytes) AS hostage_bytes,
        sum(b.segment_count) AS segment_count,
        sum(b.sole_segment_count) AS sole_segment_count,
        sum(b.sole_hostage_bytes) AS sole_hostage_bytes,
        min(b.oldest_seq) AS oldest_seq,
        min(b.oldest_ns) AS oldest_ns,
        max(CASE WHEN b.place = 1 THEN b.worst_allocation_id END) AS worst_allocation_id,
        max(CASE WHEN b.place = 1 THEN b.worst_address END) AS worst_address,
        max(CASE WHEN b.place = 1 THEN b.worst_block_bytes END) AS worst_block_bytes,
        max(CASE WHEN b.place = 1 THEN b.worst_hostage_bytes END) AS worst_hostage_bytes
    FROM (
        SELECT
            r.moment_id,
            r.heap_id,
            r.is_rest,
            r.is_baseline,
            s.site_frame_id,
            r.block_count,
            r.block_bytes,
            r.hostage_bytes,
            r.segment_count,
            r.sole_segment_count,
            r.sole_hostage_bytes,
            r.oldest_seq,
            r.oldest_ns,
            r.worst_allocation_id,
            r.worst_address,
            r.worst_block_bytes,
            r.worst_hostage_bytes,
            row_number() OVER (
                PARTITION BY r.moment_id, r.heap_id, r.is_rest, r.is_baseline, s.site_frame_id
                ORDER BY r.worst_hostage_bytes DESC, r.worst_address
            ) AS place
        FROM z_blocker_sample AS r
        LEFT JOIN stack AS s ON s.stack_id = r.stack_id
    ) AS b
    GROUP BY b.moment_id, b.heap_id, b.is_rest, b.is_baseline, b.site_frame_id
) AS g
JOIN fragmentation_sample AS w ON w.heap_id = g.heap_id AND w.moment_id = g.moment_id
JOIN moment AS m ON m.moment_id = g.moment_id
JOIN z_moment_kind AS k ON k.kind = m.kind
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.heap_id, m.seq, m.kind, m.moment_id, g.is_rest, g.hostage_bytes DESC, g.site_frame_id, g.is_baseline;
