-- The totals of each heap.

CREATE TABLE z_heap_sum (
    -- Totals and peaks of one heap. Shown by the views heap_total and peak.
    --
    -- The heap.
    heap_id INTEGER PRIMARY KEY REFERENCES heap (heap_id),
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Of these, how many ended. Unit: allocations.
    free_count INTEGER NOT NULL,
    -- Sum of what was allocated, without the baseline. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Of these, how much ended. Unit: bytes.
    freed_bytes INTEGER NOT NULL,
    -- Allocated in the trace, not freed by its end, not a segment; what a reset ended counts where nothing was allocated on
    -- the device after it. Unit: allocations.
    outstanding_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    outstanding_bytes INTEGER NOT NULL,
    -- Birth of the last allocation in the order of events. NULL: there is none but the baseline.
    last_alloc_seq INTEGER,
    -- What was live before the first event. Unit: allocations.
    baseline_count INTEGER NOT NULL,
    -- Its size. Unit: bytes.
    baseline_bytes INTEGER NOT NULL,
    -- Live at the end of the trace, baseline included. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Most that was ever live, baseline included. Unit: bytes.
    peak_bytes INTEGER NOT NULL,
    -- Allocations that were live then. Unit: allocations.
    peak_live_count INTEGER NOT NULL,
    -- Place in the order of events at which the peak was reached first. NULL: before the first event.
    peak_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    peak_ns INTEGER,
    -- What the pool held of the driver's memory at that moment, by reserved_source. Unit: bytes. NULL: not a pool, or not
    -- known.
    reserved_at_peak_bytes INTEGER,
    -- Most that the pool ever held, by reserved_source. Unit: bytes. NULL: not a pool, or not known.
    peak_reserved_bytes INTEGER,
    -- What the pool held at the end, by reserved_source. Unit: bytes. NULL: not a pool, or not known.
    reserved_bytes INTEGER,
    -- Place at which peak_reserved_bytes was reached first. NULL: not a pool, or before the first event.
    peak_reserved_seq INTEGER,
    -- Allocations whose cost is known. Unit: allocations.
    cost_count INTEGER NOT NULL,
    -- Their cost. Unit: nanoseconds.
    cost_ns INTEGER NOT NULL,
    -- Where the reserved bytes come from. 'segments': driver memory that carried the pool's blocks; 'stated': no
    -- segment was ever seen, so the pool's own word counts, as of pinned memory in a snapshot the sum of its segments
    -- (host_segments). NULL: neither is known, or not a pool.
    reserved_source TEXT,
    -- What the pool itself stated last. Unit: bytes. NULL: it never stated anything.
    stated_reserved_bytes INTEGER,
    -- Most that the pool itself ever stated. Unit: bytes. NULL: it never stated anything.
    peak_stated_reserved_bytes INTEGER,
    -- 1: these are figures of the whole recording, also where its beginning was not kept; 0: of what was kept alone.
    is_whole_run INTEGER NOT NULL,
    -- What the program freed after the last allocation of the heap, of what was as old, in events, as half the heap or older,
    -- segments left out: by this it is known that the program gives back what it holds. 0 where the heap's beginning was not
    -- kept. Unit: allocations.
    released_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    released_bytes INTEGER NOT NULL
);

CREATE VIEW heap_total (
    -- One row per heap: how much went through it.
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
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count,
    -- Of these, how many ended. Unit: allocations.
    free_count,
    -- Sum of what was allocated, without the baseline. Unit: bytes.
    allocated_bytes,
    -- Of these, how much ended. Unit: bytes.
    freed_bytes,
    -- Allocated in the trace, not freed by its end, not a segment. Unit: allocations.
    outstanding_count,
    -- Their size. Unit: bytes.
    outstanding_bytes,
    -- What was live before the first event. Unit: bytes.
    baseline_bytes,
    -- Live at the end of the trace, baseline included. Unit: bytes.
    live_bytes,
    -- What the pool held at the end, by reserved_source. Unit: bytes. NULL: not a pool, or not known.
    reserved_bytes,
    -- 'segments' (driver memory that carried the pool's blocks) or, where none was ever seen, 'stated' (the pool's own
    -- word). NULL: neither is known, or not a pool.
    reserved_source,
    -- What the pool itself stated last. Unit: bytes. NULL: it never stated anything.
    stated_reserved_bytes,
    -- 1: of the whole recording, also where its beginning was not kept; 0: of what was kept alone.
    is_whole_run
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    s.allocation_count,
    s.free_count,
    s.allocated_bytes,
    s.freed_bytes,
    s.outstanding_count,
    s.outstanding_bytes,
    s.baseline_bytes,
    s.live_bytes,
    s.reserved_bytes,
    s.reserved_source,
    s.stated_reserved_bytes,
    s.is_whole_run
FROM z_heap_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id;
