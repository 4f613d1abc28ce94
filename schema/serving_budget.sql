-- What a server's device is full of.

-- catalog: first 9, not counted
CREATE VIEW serving_budget (
    -- Of each device on which a process has a KV cache (category 'KV cache' of view peak_by_category): what its memory goes to, each
    -- at its own peak, and how large a KV cache would fit. Peaks of several heaps may be of different moments: the sum is a bound.
    -- View serving_moment has what it was at moments.
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
    -- 'weights', 'KV cache', 'activations' (with temporaries, inputs and gradients), 'graphs', 'workspaces', 'communication' or
    -- 'other' (what is not known, or has a category of the program's own); 'rest': what else was in use when the device was fullest
    -- (free memory of pools, other processes, what nobody explains); 'free': what was not in use then; 'largest KV cache': the KV
    -- cache and what was free; 'said KV cache': what the program says, the last mark with a line of its log as
    -- 'Available KV cache memory: 12.34 GiB'.
    part,
    -- Its size. Unit: bytes. NULL: 'free' and 'largest KV cache' of a device of which the size is not known.
    bytes
) AS
WITH
    part AS (
        SELECT
            device_id,
            part,
            sum(bytes) AS bytes
        FROM (
            SELECT
                h.device_id AS device_id,
                CASE
                    WHEN h.level = 3 OR c.name = 'workspace' THEN 'workspaces'
                    WHEN k.own_name IS NOT NULL THEN 'other'
                    WHEN c.name = 'weight' THEN 'weights'
                    WHEN c.name IN ('activation', 'temporary', 'input', 'gradient') THEN 'activations'
                    WHEN c.name = 'graph' THEN 'graphs'
                    WHEN c.name IN ('KV cache', 'communication') THEN c.name
                    ELSE 'other'
                END AS part,
                CASE c.name WHEN 'segment' THEN 0 ELSE k.live_bytes END AS bytes
            FROM z_peak_category AS k
            JOIN z_category AS c ON c.category_id = k.category_id
            JOIN heap AS h ON h.heap_id = k.heap_id
            WHERE h.device_id IS NOT NULL AND h.level IN (1, 2, 3)
            UNION ALL
            SELECT
                h.device_id,
                'other',
                s.peak_bytes - coalesce((SELECT sum(k.live_bytes) FROM z_peak_category AS k WHERE k.heap_id = h.heap_id), 0)
            FROM z_heap_sum AS s
            JOIN heap AS h ON h.heap_id = s.heap_id
            WHERE h.device_id IS NOT NULL AND h.level IN (1, 2, 3)
        )
        GROUP BY device_id, part
    ),
    whole AS (
        SELECT
            k.device_id AS device_id,
            k.bytes AS kv_bytes,
            (
                SELECT max(coalesce(b.used_bytes, b.recorded_bytes))
                FROM z_device_moment AS b
                WHERE b.moment_kind = 'device peak' AND b.device_id = k.device_id
            ) AS used_bytes,
            coalesce(
                (SELECT max(b.total_bytes) FROM z_device_moment AS b WHERE b.moment_kind = 'device peak' AND b.device_id = k.device_id),
                d.capacity_bytes
            ) AS capacity_bytes,
            (SELECT sum(q.bytes) FROM part AS q WHERE q.device_id = k.device_id) AS known_bytes
        FROM part AS k
        JOIN device AS d ON d.device_id = k.device_id
        WHERE k.part = 'KV cache'
    )
SELECT process.host, process.rank, process.pid, coalesce(d.physical_ordinal, d.ordinal), NULL, NULL, r.part, r.bytes
FROM (
    SELECT p.device_id, p.part, p.bytes
    FROM part AS p
    JOIN whole AS w ON w.device_id = p.device_id
    WHERE p.bytes > 0
    UNION ALL
    SELECT device_id, 'rest', max(0, used_bytes - known_bytes)
    FROM whole
    UNION ALL
    SELECT device_id, 'free', max(0, capacity_bytes - max(used_bytes, known_bytes))
    FROM whole
    UNION ALL
    SELECT device_id, 'largest KV cache', kv_bytes + max(0, capacity_bytes - max(used_bytes, known_bytes))
    FROM whole
    UNION ALL
    SELECT
        w.device_id,
        'said KV cache',
        (
            SELECT CAST(CAST(substr(m.name, instr(m.name, 'KV cache memory: ') + 17) AS REAL) * 1073741824 AS INTEGER)
            FROM moment AS m
            WHERE m.kind = 3 AND m.process_id = d.process_id AND instr(m.name, 'KV cache memory: ') > 0
                AND instr(substr(m.name, instr(m.name, 'KV cache memory: ')), ' GiB') > 0
            ORDER BY m.moment_id DESC
            LIMIT 1
        ) AS said_bytes
    FROM whole AS w
    JOIN device AS d ON d.device_id = w.device_id
    WHERE said_bytes > 0
) AS r
JOIN device AS d ON d.device_id = r.device_id
LEFT JOIN process ON process.process_id = d.process_id
ORDER BY r.device_id, r.part;
