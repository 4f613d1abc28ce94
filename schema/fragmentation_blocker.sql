-- Who keeps a pool from giving memory back.

CREATE TABLE z_blocker_sample (
    -- Blocks of one stack that keep segments from being empty, at a moment. The free bytes of a segment that holds
    -- blocks are split evenly over these blocks, however large they are, for each of them is as much in the way; what
    -- is left over goes, a byte each, to those with the lowest addresses. So the hostage_bytes of a pool at a moment
    -- add up to its stuck_bytes. The 64 stacks with most (at marks and failures 16) have rows; one more has the rest.
    -- Only where fragmentation_sample.has_detail is 1. Shown by the view fragmentation_blocker.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- The pool's heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where the blocks were allocated. NULL: no stack is known, or several (is_rest).
    stack_id INTEGER REFERENCES stack (stack_id),
    -- 1: blocks that were there before the recording began; 0: allocated in it.
    is_baseline INTEGER NOT NULL,
    -- 1: all other stacks; 0: one stack.
    is_rest INTEGER NOT NULL,
    -- Blocks of it in segments that have free bytes. Unit: allocations.
    block_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    block_bytes INTEGER NOT NULL,
    -- Segments that they lie in. Unit: segments. NULL: not known (is_rest).
    segment_count INTEGER,
    -- Free bytes that they hold. Unit: bytes.
    hostage_bytes INTEGER NOT NULL,
    -- Segments among these with blocks of no other stack: without these blocks they are empty. Unit: segments.
    sole_segment_count INTEGER NOT NULL,
    -- Free bytes of those. Unit: bytes.
    sole_hostage_bytes INTEGER NOT NULL,
    -- Birth of the oldest in the order of events. NULL: before the first event, or not known.
    oldest_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: not known.
    oldest_ns INTEGER,
    -- The block that holds most free bytes. NULL: not known, or of the rest.
    worst_allocation_id INTEGER REFERENCES z_allocation (allocation_id),
    -- Its first address; views show it as hexadecimal text. NULL: of the rest.
    worst_address INTEGER,
    -- Its size. Unit: bytes. NULL: of the rest.
    worst_block_bytes INTEGER,
    -- The free bytes that it holds. Unit: bytes. NULL: of the rest.
    worst_hostage_bytes INTEGER
);

CREATE INDEX blocker_sample_moment ON z_blocker_sample (moment_id, heap_id);

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
