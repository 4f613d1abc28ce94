-- What programs do with memory that is not theirs.

CREATE TABLE anomaly_kind (
    -- Words for anomaly.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- What went wrong.
    name TEXT NOT NULL
);

INSERT INTO anomaly_kind VALUES
    (1, 'free of unknown memory'), (2, 'double free'), (3, 'wrong free call'), (4, 'copy past the end'),
    (5, 'use after free'), (6, 'overlapping allocation'), (7, 'unmap of unknown memory'), (8, 'zero size allocation'),
    (9, 'unregister of unknown memory'), (10, 'stream never destroyed'), (11, 'copy of unallocated memory');

CREATE TABLE anomaly (
    -- Something that a correct program does not do. Shown by the view misuse.
    --
    -- Number of the anomaly.
    anomaly_id INTEGER PRIMARY KEY,
    -- A code of anomaly_kind.
    kind INTEGER NOT NULL REFERENCES anomaly_kind (kind),
    -- The process. NULL: not known.
    process_id INTEGER REFERENCES process (process_id),
    -- The thread. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Place in the order of events.
    seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- The heap. NULL: not known.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where: the address that the free names, the first that the copy names on its wrong side, the first that two blocks
    -- share; of a stream its number. Views show it as hexadecimal text.
    address INTEGER,
    -- How much: what the copy names on that side, the block that a wrong call frees, what two blocks share. Unit: bytes.
    -- NULL: no size is part of it.
    size_bytes INTEGER,
    -- The allocation that it is about. NULL: none.
    allocation_id INTEGER REFERENCES z_allocation (allocation_id),
    -- The copy that it is about. NULL: none.
    copy_id INTEGER REFERENCES copy (copy_id),
    -- Where it happened. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Where the other half happened, e.g. the first of two frees; see other_site of the view misuse. NULL: none, or not
    -- known.
    other_stack_id INTEGER REFERENCES stack (stack_id),
    -- One line of explanation. NULL: none.
    detail TEXT
);

-- catalog: first 9
CREATE VIEW misuse (
    -- Anomalies in words: wrong frees, copies past the end, use after free. Nothing is said of what lies behind a loss,
    -- of memory that was there before the recording began, and of what a pause may have changed unseen. Overlaps are
    -- looked for inside of a level: a pool's blocks lie in its segment, and pools in blocks of pools. Padding beyond
    -- what was asked for is nobody's, but a copy that reaches into it has left its block; the whole of a segment, or a
    -- block cleared with its padding, is the pool's own doing. A copy that was queued is judged by blocks of a pool
    -- only if its own thread allocated or freed them: for another one it may have been queued before.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: host memory, or not known.
    device,
    -- Name of the heap. NULL: not known.
    heap,
    -- Level of the heap. NULL: not known.
    level,
    -- Number of the anomaly.
    anomaly_id,
    -- What went wrong.
    kind,
    -- Place in the order of events.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- The thread: its name, else its number. NULL: not known.
    thread,
    -- Where, hexadecimal: the address that the free names, the first that the copy names on its wrong side, the first that
    -- two blocks share; of a stream its number. NULL: not known.
    address,
    -- How much: what the copy names on that side, the block that a wrong call frees, what two blocks share. Unit: bytes.
    -- NULL: no size is part of it.
    size_bytes,
    -- The allocation that it is about. NULL: none.
    allocation_id,
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- Where the other half happened. Double free, use after free: who freed it first. Copy past the end, overlap, wrong free
    -- call: who allocated what is there. Frees, unmaps and unregisters of unknown memory: who allocated, registered or
    -- freed what lies around the address (see detail). NULL: no stack was recorded; a kind with no other half (zero size, a
    -- stream never destroyed, memory that never was); or the free is too long ago: the last 131072 addresses and 16384
    -- ranges of device memory that were freed are remembered.
    other_site,
    -- One line of explanation. NULL: none.
    detail,
    -- Number of the whole stack. NULL: none was recorded.
    stack_id
) AS
SELECT
    process.host, process.rank, process.pid, p.device, p.heap, p.level,
    a.anomaly_id,
    k.name,
    a.seq,
    a.ns,
    coalesce(t.name, CAST(t.tid AS TEXT)),
    CASE WHEN a.address IS NOT NULL THEN printf('0x%x', a.address) END,
    a.size_bytes,
    a.allocation_id,
    coalesce(f.label, '(no stack)'),
    f2.label,
    a.detail,
    a.stack_id
FROM anomaly AS a
JOIN anomaly_kind AS k ON k.kind = a.kind
LEFT JOIN process ON process.process_id = a.process_id
LEFT JOIN z_heap_place AS p ON p.heap_id = a.heap_id
LEFT JOIN thread AS t ON t.thread_id = a.thread_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
LEFT JOIN stack AS s2 ON s2.stack_id = a.other_stack_id
LEFT JOIN frame AS f2 ON f2.frame_id = s2.site_frame_id
ORDER BY a.anomaly_id;
