-- How pools are cut up at each moment.

CREATE TABLE fragmentation_sample (
    -- How a pool's memory was cut up at a moment; left out where thousands of heaps meet thousands of moments. Shown by the
    -- view fragmentation.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- The pool's heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Bytes of the pool's segments; where none had been seen by then, what the pool stated. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- Bytes of them inside blocks. Unit: bytes.
    occupied_bytes INTEGER NOT NULL,
    -- Bytes of them outside blocks. Unit: bytes.
    free_bytes INTEGER NOT NULL,
    -- Largest free range; a range does not cross segments. Unit: bytes. NULL: not known, for no segment had been seen.
    largest_free_bytes INTEGER,
    -- Free bytes in segments that hold something, which emptying the cache cannot give back. Unit: bytes. NULL: not
    -- known, for no segment had been seen.
    stuck_bytes INTEGER,
    -- Number of free ranges. Unit: ranges. NULL: not known, for no segment had been seen.
    gap_count INTEGER,
    -- Which size of a block was used: 'requested' or 'block'.
    size_basis TEXT,
    -- 1: computed from requested sizes, so gaps are too large, or from what the pool stated; 0: exact.
    is_estimate INTEGER NOT NULL,
    -- What the pool itself had stated last. Unit: bytes. NULL: nothing yet.
    stated_reserved_bytes INTEGER,
    -- What live blocks were given beyond what was asked for. Unit: bytes. NULL: one of the two sizes is not known of
    -- some.
    waste_bytes INTEGER,
    -- 1: events were lost before the moment, so that blocks may be missing, or be there no more; 0: none were.
    is_doubtful INTEGER NOT NULL,
    -- 1: what the process held when its recording began is not known, and not in these figures; 0: all is known.
    is_partial INTEGER NOT NULL,
    -- 1: view fragmentation_blocker and the free ranges tell of this pool at this moment; 0: there were too many moments to look at each
    -- segment and block.
    has_detail INTEGER NOT NULL,
    -- Part of free_bytes that lies inside blocks of which only the requested size is told, at least. Unit: bytes.
    min_rounding_bytes INTEGER NOT NULL,
    -- The same at most: the rest is free for sure. Unit: bytes. NULL: no bound is known.
    max_rounding_bytes INTEGER
);

CREATE INDEX fragmentation_sample_heap ON fragmentation_sample (heap_id, moment_id);

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
