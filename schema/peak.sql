-- The most that was ever live.

-- catalog: first 4, in csv
CREATE VIEW peak (
    -- One row per heap: its peak, and how much the pool held for it.
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
    -- Most that was ever live, baseline included. Unit: bytes.
    peak_bytes,
    -- Place in the order of events at which it was reached first. NULL: before the first event.
    peak_seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    peak_ns,
    -- Allocations that were live then. Unit: allocations.
    live_count,
    -- What was live before the first event. Unit: bytes.
    baseline_bytes,
    -- What the pool held of the driver's memory at the peak, by reserved_source. Unit: bytes. NULL: not a pool, or not
    -- known.
    reserved_at_peak_bytes,
    -- Most that the pool ever held, by reserved_source. Unit: bytes. NULL: not a pool, or not known.
    peak_reserved_bytes,
    -- 1 - peak_bytes / peak_reserved_bytes: the share of the pool that was never used at once, whenever the two were reached;
    -- of no one moment. Unit: 0 to 1. NULL: not a pool, or nothing reserved.
    peak_fragmentation_ratio,
    -- All memory of the device. Unit: bytes. NULL: not known.
    capacity_bytes,
    -- 'segments' (driver memory that carried the pool's blocks) or, where none was ever seen, 'stated' (the pool's own
    -- word). NULL: neither is known, or not a pool.
    reserved_source,
    -- Most that the pool itself ever stated to hold. Unit: bytes. NULL: it never stated anything.
    peak_stated_reserved_bytes,
    -- 1: of the whole recording, also where its beginning was not kept; 0: of what was kept alone.
    is_whole_run,
    -- 1 - peak_bytes / reserved_at_peak_bytes: the share of what the pool held at the peak that was unused then. Where
    -- peak_bytes is of requested sizes, what blocks were given beyond that counts as unused: queries/fragmentation_verdict.sql
    -- knows better. Unit: 0 to 1. NULL: as peak_fragmentation_ratio.
    unused_at_peak_ratio
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    s.peak_bytes,
    s.peak_seq,
    s.peak_ns,
    s.peak_live_count,
    s.baseline_bytes,
    s.reserved_at_peak_bytes,
    s.peak_reserved_bytes,
    CASE
        WHEN s.peak_reserved_bytes > 0
            THEN max(0.0, CAST(s.peak_reserved_bytes - s.peak_bytes AS REAL) / s.peak_reserved_bytes)
    END,
    p.capacity_bytes,
    s.reserved_source,
    s.peak_stated_reserved_bytes,
    s.is_whole_run,
    CASE
        WHEN s.reserved_at_peak_bytes > 0
            THEN max(0.0, CAST(s.reserved_at_peak_bytes - s.peak_bytes AS REAL) / s.reserved_at_peak_bytes)
    END
FROM z_heap_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id;
