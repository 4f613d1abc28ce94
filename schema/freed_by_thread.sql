-- Who frees what another thread had allocated.

CREATE TABLE z_freed_by_thread (
    -- What each thread of a process freed that another one had allocated. Shown by the view freed_by_thread.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The thread that had allocated it.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- The thread that freed it.
    free_thread_id INTEGER REFERENCES thread (thread_id),
    -- Such blocks. Unit: allocations.
    freed_count INTEGER NOT NULL,
    -- Their sizes, by the heap's size_basis. Unit: bytes.
    freed_bytes INTEGER NOT NULL
);

CREATE VIEW freed_by_thread (
    -- What threads freed that another thread had allocated, most blocks first: a pool with a cache for each thread does not see
    -- such blocks come back. What of the two threads is not known counts nowhere.
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
    -- The thread that had allocated them: its name, else its number.
    thread,
    -- The thread that freed them, likewise.
    free_thread,
    -- Such blocks. Unit: allocations.
    freed_count,
    -- Their sizes, by the heap's size_basis. Unit: bytes.
    freed_bytes,
    -- 1: something of the recording was lost, not kept or paused, or had begun before it; 0: all is here.
    is_partial
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    coalesce(t.name, CAST(t.tid AS TEXT)),
    coalesce(f.name, CAST(f.tid AS TEXT)),
    s.freed_count,
    s.freed_bytes,
    i.is_complete = 0 OR i.baseline = 'unknown' OR i.detail_begin_seq IS NOT NULL
        OR EXISTS (SELECT 1 FROM z_pause AS q WHERE q.process_id = p.process_id)
FROM z_freed_by_thread AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
LEFT JOIN input AS i ON i.input_id = p.input_id
LEFT JOIN thread AS t ON t.thread_id = s.thread_id
LEFT JOIN thread AS f ON f.thread_id = s.free_thread_id
ORDER BY s.freed_count DESC, s.freed_bytes DESC, s.heap_id, s.thread_id, s.free_thread_id;
