-- What a server's device held when it began to serve, and when a request failed.

CREATE TABLE z_largest_cache (
    -- When the last of the largest blocks of its KV cache was born, of each process that has one on a device. Shown by the view
    -- serving_moment.
    --
    -- The process.
    process_id INTEGER PRIMARY KEY REFERENCES process (process_id),
    -- Place in the order of events. NULL: it was there before the first event.
    seq INTEGER
);

-- catalog: large, not counted
CREATE VIEW serving_moment (
    -- As view serving_budget, but of two moments of each process with a KV cache, by what was live then: the first mark behind the
    -- last of the largest blocks of its KV cache, and its first failed request. Summed up of view allocation;
    -- not of inputs that do not have what was live then.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device.
    device,
    -- Always NULL: of all heaps.
    heap,
    -- Always NULL: of all heaps.
    level,
    -- 'serving': the mark; 'failure': the failed request.
    moment,
    -- Place in the order of events.
    seq,
    -- As in view serving_budget.
    part,
    -- Its size. Unit: bytes. NULL: 'free' and 'largest KV cache' of a device of which the size is not known.
    bytes
) AS
WITH
    kind AS (
        SELECT
            category_id,
            CASE
                WHEN name = 'weight' THEN 'weights'
                WHEN name IN ('activation', 'temporary', 'input', 'gradient') THEN 'activations'
                WHEN name IN ('graph', 'workspace') THEN name || 's'
                WHEN name IN ('KV cache', 'communication') THEN name
            END AS part
        FROM z_category
    ),
    point AS (
        SELECT
            'serving' AS moment,
            min(m.moment_id) AS moment_id,
            min(m.seq) AS seq
        FROM z_largest_cache AS c
        JOIN moment AS m ON m.process_id = c.process_id AND m.kind = 3 AND m.seq > coalesce(c.seq, -1)
        GROUP BY c.process_id
        UNION ALL
        SELECT 'failure', min(m.moment_id), min(m.seq)
        FROM z_largest_cache AS c
        JOIN moment AS m ON m.process_id = c.process_id AND m.kind = 4
        JOIN failure AS f ON f.failure_id = m.failure_id AND coalesce(f.error_code, 0) <> 207005
        GROUP BY c.process_id
    ),
    asked AS (
        SELECT
            q.moment AS moment,
            q.seq AS seq,
            b.device_id AS device_id,
            coalesce(b.used_bytes, b.recorded_bytes) AS used_bytes,
            coalesce(b.total_bytes, d.capacity_bytes) AS capacity_bytes
        FROM point AS q
        JOIN z_device_moment AS b ON b.moment_id = q.moment_id
        JOIN device AS d ON d.device_id = b.device_id
        JOIN process AS p ON p.process_id = d.process_id
        JOIN moment AS m ON m.moment_id = q.moment_id AND m.process_id = p.process_id
        JOIN input AS i ON i.input_id = p.input_id
        WHERE i.detail <> 'none' AND q.seq >= coalesce(i.detail_begin_seq, 0)
    ),
    spot (heap_id, seq, ns) AS (
        SELECT h.heap_id, q.seq, NULL
        FROM asked AS q
        JOIN heap AS h ON h.device_id = q.device_id AND h.level IN (1, 2, 3)
    ),
    -- begin known spot
    -- Where to look for what was live at the moments of spot (table z_birth_part), and the rows there.
    near (heap_id, first_id, last_id) AS (
        SELECT DISTINCT
            y.heap_id,
            y.first_id,
            y.last_id
        FROM spot AS x
        CROSS JOIN z_birth_part AS y ON y.heap_id = x.heap_id
        WHERE coalesce(x.seq, x.ns) IS NOT NULL
            AND CASE
                WHEN x.seq IS NULL THEN coalesce(y.first_ns <= x.ns, 1) AND coalesce(y.end_ns > x.ns, 1)
                ELSE coalesce(y.first_seq <= x.seq, 1) AND coalesce(y.end_seq > x.seq, 1)
            END
    ),
    known (allocation_id) AS (
        SELECT DISTINCT there.allocation_id
        FROM near AS x
        CROSS JOIN allocation AS there ON there.allocation_id BETWEEN x.first_id AND x.last_id AND +there.heap_id = x.heap_id
    ),
    -- end known
    part AS (
        SELECT
            q.device_id AS device_id,
            q.moment AS moment,
            CASE h.level WHEN 3 THEN 'workspaces' ELSE coalesce(c.part, 'other') END AS part,
            sum(a.size_bytes) AS bytes
        FROM known AS l
        CROSS JOIN allocation AS a ON a.allocation_id = l.allocation_id
        CROSS JOIN heap AS h ON h.heap_id = a.heap_id AND h.level IN (1, 2, 3)
        CROSS JOIN asked AS q ON q.device_id = h.device_id
        LEFT JOIN kind AS c ON c.category_id = a.category_id
        WHERE a.is_segment = 0 AND coalesce(a.alloc_seq, -1) <= q.seq AND (a.free_seq IS NULL OR a.free_seq > q.seq)
        GROUP BY 1, 2, 3
    ),
    whole AS (
        SELECT
            q.device_id AS device_id,
            q.moment AS moment,
            q.used_bytes AS used_bytes,
            q.capacity_bytes AS capacity_bytes,
            coalesce(sum(p.bytes), 0) AS known_bytes,
            coalesce(sum(CASE p.part WHEN 'KV cache' THEN p.bytes END), 0) AS kv_bytes
        FROM asked AS q
        LEFT JOIN part AS p ON p.device_id = q.device_id AND p.moment = q.moment
        GROUP BY q.device_id, q.moment
    )
SELECT process.host, process.rank, process.pid, coalesce(d.physical_ordinal, d.ordinal), NULL, NULL, r.moment, q.seq, r.part, r.bytes
FROM (
    SELECT device_id, moment, part, bytes
    FROM part
    UNION ALL
    SELECT device_id, moment, 'rest', max(0, used_bytes - known_bytes)
    FROM whole
    UNION ALL
    SELECT device_id, moment, 'free', max(0, capacity_bytes - max(used_bytes, known_bytes))
    FROM whole
    UNION ALL
    SELECT device_id, moment, 'largest KV cache', kv_bytes + max(0, capacity_bytes - max(used_bytes, known_bytes))
    FROM whole
) AS r
JOIN asked AS q ON q.device_id = r.device_id AND q.moment = r.moment
JOIN device AS d ON d.device_id = r.device_id
JOIN process ON process.process_id = d.process_id
ORDER BY r.device_id, q.seq, r.moment, r.part;
