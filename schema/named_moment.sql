-- The moments by which queries ask.

CREATE VIEW z_named_moment (
    -- The moments of each heap that a query takes by name, as its parameter :at, :from or :to: 'begin', 'end', 'peak',
    -- 'reserve' and each mark. Of several marks of one name it is the last, of the heap's own process where that set one.
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
    -- 'begin' (before the first event), 'end' (of the recording), 'peak' (of this heap), 'reserve' (when the pool held most; where that was at its peak, and of
    -- what is no pool, the peak), or the text of a mark.
    moment,
    -- Place in the order of events: the state is that right after this event. -1: before the first event.
    seq,
    -- When; of the end the last event of a heap. Unit: nanoseconds since the recording began. NULL: not known, or the begin.
    ns,
    -- How many marks of the input have this text. Unit: marks. NULL: it is no mark.
    mark_count,
    -- Number of the heap.
    heap_id
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    'begin',
    -1,
    NULL,
    NULL,
    p.heap_id
FROM z_heap_place AS p
UNION ALL
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    'end',
    coalesce(input.last_seq, -1),
    w.last_ns,
    NULL,
    p.heap_id
FROM z_heap_place AS p
JOIN input ON input.input_id = p.input_id
LEFT JOIN (
    SELECT
        q.input_id,
        max(u.last_ns) AS last_ns
    FROM usage AS u
    JOIN z_heap_place AS q ON q.heap_id = u.heap_id
    GROUP BY q.input_id
) AS w ON w.input_id = p.input_id
UNION ALL
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    'peak',
    coalesce(s.peak_seq, -1),
    s.peak_ns,
    NULL,
    p.heap_id
FROM z_heap_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
UNION ALL
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    'reserve',
    CASE WHEN m.moment_id IS NULL THEN coalesce(s.peak_seq, -1) ELSE coalesce(m.seq, -1) END,
    CASE WHEN m.moment_id IS NULL THEN s.peak_ns ELSE m.ns END,
    NULL,
    p.heap_id
FROM z_heap_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
LEFT JOIN moment AS m ON m.heap_id = s.heap_id AND m.kind = 6
WHERE m.moment_id IS NOT NULL OR s.peak_reserved_bytes IS NULL OR s.reserved_at_peak_bytes >= s.peak_reserved_bytes
UNION ALL
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    m.name,
    coalesce(max(CASE WHEN m.process_id = p.process_id THEN coalesce(m.seq, -1) END), max(coalesce(m.seq, -1))),
    coalesce(max(CASE WHEN m.process_id = p.process_id THEN m.ns END), max(m.ns)),
    count(*),
    p.heap_id
FROM moment AS m
JOIN process AS q ON q.process_id = m.process_id
JOIN z_heap_place AS p ON p.input_id = q.input_id
WHERE m.kind = 3 AND m.name NOT IN ('begin', 'end', 'peak', 'reserve')
GROUP BY p.heap_id, m.name;
