-- What a server's device is full of.

-- catalog: first 9, not counted
CREATE VIEW serving_budget (
    -- Of each device on which a process has a KV cache (category 'KV cache' of view peak_by_category): what its memory goes to, each
    -- at its own peak, and how large a KV cache would fit. Peaks of several heaps may be of different moments: the sum is a bound.
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
    -- cache and what was free.
    part,
    -- Its size. Unit: bytes. NULL: 'free' and 'largest KV cache' of a device of which the size is not known.
    bytes
) AS
WITH
    part AS (
        SELECT
            host,
            rank,
            pid,
            device,
            CASE
                WHEN level = 'workspace' OR category = 'workspace' THEN 'workspaces'
                WHEN category = 'weight' THEN 'weights'
                WHEN category IN ('activation', 'temporary', 'input', 'gradient') THEN 'activations'
                WHEN category = 'graph' THEN 'graphs'
                WHEN category IN ('KV cache', 'communication') THEN category
                ELSE 'other'
            END AS part,
            sum(live_bytes) AS bytes
        FROM peak_by_category
        WHERE device IS NOT NULL AND level IN ('pool', 'workspace', 'driver') AND category <> 'segment'
        GROUP BY 1, 2, 3, 4, 5
    ),
    whole AS (
        SELECT
            k.host AS host,
            k.rank AS rank,
            k.pid AS pid,
            k.device AS device,
            k.bytes AS kv_bytes,
            (
                SELECT coalesce(max(CASE WHEN m.component = 'DEVICE USED' THEN m.bytes END), sum(m.bytes))
                FROM device_memory AS m
                WHERE m.moment_kind = 'device peak' AND m.host IS k.host AND m.pid IS k.pid AND m.device = k.device
            ) AS used_bytes,
            coalesce(
                (
                    SELECT max(m.total_bytes)
                    FROM z_device_moment AS m
                    WHERE m.moment_kind = 'device peak' AND m.host IS k.host AND m.pid IS k.pid AND m.device = k.device
                ),
                (SELECT max(d.capacity_bytes) FROM device_peak AS d WHERE d.host IS k.host AND d.device = k.device)
            ) AS capacity_bytes,
            (
                SELECT sum(q.bytes)
                FROM part AS q
                WHERE q.host IS k.host AND q.pid IS k.pid AND q.device = k.device
            ) AS known_bytes
        FROM part AS k
        WHERE k.part = 'KV cache'
    )
SELECT p.host, p.rank, p.pid, p.device, NULL, NULL, p.part, p.bytes
FROM part AS p
JOIN whole AS w ON w.host IS p.host AND w.pid IS p.pid AND w.device = p.device
UNION ALL
SELECT host, rank, pid, device, NULL, NULL, 'rest', max(0, used_bytes - known_bytes)
FROM whole
UNION ALL
SELECT host, rank, pid, device, NULL, NULL, 'free', max(0, capacity_bytes - max(used_bytes, known_bytes))
FROM whole
UNION ALL
SELECT host, rank, pid, device, NULL, NULL, 'largest KV cache', kv_bytes + max(0, capacity_bytes - max(used_bytes, known_bytes))
FROM whole;
