-- A verdict on each heap's figures, and what to do about it.

CREATE VIEW health (
    -- A verdict on each heap's figures, with advice. Good, warning, danger: driver time per allocation < 10, 10 to 50,
    -- > 50 us; fragmentation at the peak < 10, 10 to 30, > 30 %; pool hit rate after the warm-up > 90, 70 to 90, < 70 %; zero
    -- copy > 80, 50 to 80, < 50 %.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device. NULL: host memory.
    device,
    -- Name of the heap. NULL: the measure is not of one heap (zero copy).
    heap,
    -- Level of the heap. NULL: the measure is not of one heap.
    level,
    -- 'allocation cost': of a pool the time in the driver over all its allocations, of other memory over those that are no
    -- pool's; 'fragmentation': peak_fragmentation_ratio of view peak; 'pool hit rate': after the warm-up (view warm_up), which
    -- is, without steps, all up to the pool's peak; 'zero copy': as in view zero_copy.
    measure,
    -- Its value. NULL: it does not apply, nothing came after the warm-up, or it is not judged (advice says why).
    value,
    -- Unit of the value: 'ns' (mean per allocation) or 'ratio'.
    unit,
    -- 'good', 'warning' or 'danger'; 'not applicable' (zero copy where no registered memory is copied from or to);
    -- 'unknown' where is_partial is 1 or there is no value.
    verdict,
    -- What the value is made of and what would better it, a sentence with figures.
    advice,
    -- 1: events were lost, the recording began late or was paused, or not all that the value is made of is known, so that
    -- nothing is claimed; 0: not.
    is_partial
) AS
-- How much of each heap's run is known: whether the detail begins late, and whether anything was lost of it, or came and
-- went in a pause.
WITH known AS (
    SELECT
        s.heap_id AS heap_id,
        i.detail_begin_seq IS NOT NULL AS is_cut,
        i.events_seen > i.events_ingested + i.events_unkept OR i.bytes_cut > 0
            OR i.unknown_reference_count > 0 OR i.baseline = 'unknown' OR s.is_whole_run = 0
            OR EXISTS (SELECT 1 FROM pause AS w WHERE w.process_id = q.process_id AND w.is_memory_told = 0) AS is_lossy
    FROM heap_sum AS s
    JOIN heap AS h ON h.heap_id = s.heap_id
    LEFT JOIN process AS q ON q.process_id = h.process_id
    LEFT JOIN input AS i ON i.input_id = q.input_id
)
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    'allocation cost',
    c.value,
    'ns',
    CASE
        WHEN c.is_partial THEN 'unknown'
        WHEN c.value < 10000 THEN 'good'
        WHEN c.value <= 50000 THEN 'warning'
        ELSE 'danger'
    END,
    CASE
        WHEN c.is_pool = 1
            THEN c.call_count || CASE c.call_count WHEN 1 THEN ' call' ELSE ' calls' END || ' of the driver took '
                || c.cost_text || ' for ' || c.allocation_count
                || CASE c.allocation_count WHEN 1 THEN ' allocation' ELSE ' allocations' END || ' of the pool, '
                || c.value_text || ' each'
        ELSE c.call_count || CASE c.call_count WHEN 1 THEN ' call' ELSE ' calls' END || ' of the driver took '
            || c.cost_text || ', ' || c.value_text || ' each'
    END || CASE
        WHEN c.is_partial THEN ', as far as is known.'
        WHEN c.value < 10000 THEN ': nothing to gain.'
        WHEN c.is_pool = 1
            THEN CASE
                WHEN EXISTS (SELECT 1 FROM pool_sum AS z WHERE z.heap_id = c.heap_id AND z.flush_count > 0)
                    THEN ': a cache that is not emptied could gain up to '
                ELSE ': memory taken beforehand, or in larger pieces, could gain up to '
            END || c.cost_text || '.'
        ELSE ': memory kept for reuse, by a pool, could gain up to ' || c.cost_text || '.'
    END,
    c.is_partial
FROM (
    SELECT
        a.heap_id AS heap_id,
        a.is_pool AS is_pool,
        a.call_count AS call_count,
        a.allocation_count AS allocation_count,
        CAST(a.cost_ns AS REAL) / a.allocation_count AS value,
        CASE
            WHEN a.cost_ns >= 1000000000 THEN printf('%.1f s', a.cost_ns / 1000000000.0)
            WHEN a.cost_ns >= 1000000 THEN printf('%.1f ms', a.cost_ns / 1000000.0)
            ELSE printf('%.1f us', a.cost_ns / 1000.0)
        END AS cost_text,
        CASE
            WHEN a.mean_ns >= 1000000000 THEN printf('%.1f s', a.mean_ns / 1000000000.0)
            WHEN a.mean_ns >= 1000000 THEN printf('%.1f ms', a.mean_ns / 1000000.0)
            ELSE printf('%.1f us', a.mean_ns / 1000.0)
        END AS value_text,
        a.is_partial AS is_partial
    FROM (
        SELECT
            m.heap_id AS heap_id,
            m.is_pool AS is_pool,
            m.call_count AS call_count,
            m.allocation_count AS allocation_count,
            m.cost_ns AS cost_ns,
            m.cost_ns / m.allocation_count AS mean_ns,
            m.is_partial AS is_partial
        FROM (
            SELECT
                e.heap_id AS heap_id,
                1 AS is_pool,
                e.segment_count AS call_count,
                s.allocation_count AS allocation_count,
                e.segment_cost_ns + CASE
                    WHEN e.mapped_count > 0
                        THEN coalesce((
                            SELECT sum(v.cost_ns)
                            FROM heap AS x
                            JOIN heap_sum AS v ON v.heap_id = x.heap_id
                            WHERE x.device_id = h.device_id AND x.process_id = h.process_id AND x.level = 7
                        ), 0)
                    ELSE 0
                END AS cost_ns,
                e.segment_cost_count + e.mapped_count < e.segment_count OR k.is_cut
                    OR (e.mapped_count > 0 AND (
                        SELECT count(*)
                        FROM pool_effort AS o
                        JOIN heap AS x ON x.heap_id = o.heap_id
                        WHERE x.device_id = h.device_id AND x.process_id = h.process_id AND x.level IN (2, 3)
                            AND o.mapped_count > 0
                    ) > 1)
                    OR k.is_lossy AS is_partial
            FROM pool_effort AS e
            JOIN heap_sum AS s ON s.heap_id = e.heap_id
            JOIN heap AS h ON h.heap_id = e.heap_id
            JOIN known AS k ON k.heap_id = e.heap_id
            WHERE h.level IN (2, 3) AND s.allocation_count > 0
                AND (e.segment_cost_count > 0 OR (e.mapped_count > 0 AND EXISTS (
                    SELECT 1
                    FROM heap AS x
                    JOIN heap_sum AS v ON v.heap_id = x.heap_id
                    WHERE x.device_id = h.device_id AND x.process_id = h.process_id AND x.level = 7 AND v.cost_count > 0
                )))
            UNION ALL
            SELECT
                s.heap_id,
                0,
                s.cost_count - coalesce(e.segment_cost_count, 0),
                s.cost_count - coalesce(e.segment_cost_count, 0),
                s.cost_ns - coalesce(e.segment_cost_ns, 0),
                k.is_cut OR k.is_lossy
            FROM heap_sum AS s
            JOIN heap AS h ON h.heap_id = s.heap_id
            JOIN known AS k ON k.heap_id = s.heap_id
            LEFT JOIN pool_effort AS e ON e.heap_id = s.heap_id
            WHERE h.level NOT IN (2, 3) AND coalesce(h.module_id, 33) = 33
                AND s.cost_count > coalesce(e.segment_cost_count, 0)
                AND NOT (h.level = 7 AND EXISTS (
                    SELECT 1
                    FROM pool_effort AS o
                    JOIN heap AS x ON x.heap_id = o.heap_id
                    WHERE x.device_id = h.device_id AND x.process_id = h.process_id AND x.level IN (2, 3)
                        AND o.mapped_count > 0
                ))
        ) AS m
    ) AS a
) AS c
JOIN heap_place AS p ON p.heap_id = c.heap_id
UNION ALL
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    'fragmentation',
    f.value,
    'ratio',
    CASE
        WHEN f.is_partial THEN 'unknown'
        WHEN f.value < 0.1 THEN 'good'
        WHEN f.value <= 0.3 THEN 'warning'
        ELSE 'danger'
    END,
    f.unused_text || ' of ' || f.reserved_text || ' reserved was never in use at once'
        || CASE WHEN f.waste_bytes > 0 THEN ', ' || f.waste_text || ' of it in blocks larger than asked for' ELSE '' END
        || CASE
            WHEN f.stuck_bytes > 0 THEN ', ' || f.stuck_text || ' stuck at the peak'
            ELSE ''
        END
        || CASE
            WHEN f.is_partial AND f.is_requested THEN ': at most, for only requested sizes are known.'
            WHEN f.is_early AND f.value >= 0.1
                THEN ': at most, for what other streams still used counts as free (view early_free).'
            WHEN f.is_partial THEN ', as far as is known.'
            WHEN f.value < 0.1 THEN ': nothing to gain.'
            WHEN f.stuck_bytes > 0 AND f.is_growing
                THEN ': its segments grow already; whose blocks hold them stands in view fragmentation_blocker.'
            WHEN f.stuck_bytes > 0 AND p.heap = 'ptaCaching'
                THEN ': PYTORCH_NPU_ALLOC_CONF=expandable_segments:True could give back up to ' || f.gain_text || '.'
            WHEN f.stuck_bytes > 0
                THEN ': segments that can grow could give back up to ' || f.gain_text || '.'
            ELSE ': emptying its cache between phases could give back up to ' || f.gain_text || '.'
        END,
    f.is_partial
FROM (
    SELECT
        g.heap_id AS heap_id,
        g.value AS value,
        g.stuck_bytes AS stuck_bytes,
        g.waste_bytes AS waste_bytes,
        g.is_growing AS is_growing,
        g.is_requested AS is_requested,
        g.is_early AS is_early,
        g.is_lossy OR ((g.is_requested OR g.is_early) AND g.value >= 0.1) AS is_partial,
        CASE
            WHEN g.unused_bytes >= 1073741824 THEN printf('%.1f GiB', g.unused_bytes / 1073741824.0)
            WHEN g.unused_bytes >= 1048576 THEN printf('%.1f MiB', g.unused_bytes / 1048576.0)
            ELSE printf('%.1f KiB', g.unused_bytes / 1024.0)
        END AS unused_text,
        CASE
            WHEN g.waste_bytes >= 1073741824 THEN printf('%.1f GiB', g.waste_bytes / 1073741824.0)
            WHEN g.waste_bytes >= 1048576 THEN printf('%.1f MiB', g.waste_bytes / 1048576.0)
            ELSE printf('%.1f KiB', g.waste_bytes / 1024.0)
        END AS waste_text,
        CASE
            WHEN g.unused_bytes - g.waste_bytes >= 1073741824
                THEN printf('%.1f GiB', (g.unused_bytes - g.waste_bytes) / 1073741824.0)
            WHEN g.unused_bytes - g.waste_bytes >= 1048576
                THEN printf('%.1f MiB', (g.unused_bytes - g.waste_bytes) / 1048576.0)
            ELSE printf('%.1f KiB', (g.unused_bytes - g.waste_bytes) / 1024.0)
        END AS gain_text,
        CASE
            WHEN g.peak_reserved_bytes >= 1073741824 THEN printf('%.1f GiB', g.peak_reserved_bytes / 1073741824.0)
            WHEN g.peak_reserved_bytes >= 1048576 THEN printf('%.1f MiB', g.peak_reserved_bytes / 1048576.0)
            ELSE printf('%.1f KiB', g.peak_reserved_bytes / 1024.0)
        END AS reserved_text,
        CASE
            WHEN g.stuck_bytes >= 1073741824 THEN printf('%.1f GiB', g.stuck_bytes / 1073741824.0)
            WHEN g.stuck_bytes >= 1048576 THEN printf('%.1f MiB', g.stuck_bytes / 1048576.0)
            ELSE printf('%.1f KiB', g.stuck_bytes / 1024.0)
        END AS stuck_text
    FROM (
        SELECT
            s.heap_id AS heap_id,
            max(0.0, CAST(s.peak_reserved_bytes - s.peak_bytes AS REAL) / s.peak_reserved_bytes) AS value,
            max(0, s.peak_reserved_bytes - s.peak_bytes) AS unused_bytes,
            s.peak_reserved_bytes AS peak_reserved_bytes,
            (
                SELECT max(k.stuck_bytes)
                FROM moment AS m
                JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id AND k.heap_id = m.heap_id
                WHERE m.heap_id = s.heap_id AND m.kind = 1
            ) AS stuck_bytes,
            EXISTS (
                SELECT 1
                FROM moment AS m
                JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id AND k.heap_id = m.heap_id
                WHERE m.heap_id = s.heap_id AND m.kind = 1 AND k.size_basis = 'requested'
            ) AS is_requested,
            CASE
                WHEN h.size_basis = 'requested'
                    THEN coalesce(min(max(0, s.peak_reserved_bytes - s.peak_bytes), (
                        SELECT max(k.waste_bytes)
                        FROM moment AS m
                        JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id AND k.heap_id = m.heap_id
                        WHERE m.heap_id = s.heap_id AND m.kind = 1
                    )), 0)
                ELSE 0
            END AS waste_bytes,
            EXISTS (
                SELECT 1
                FROM pool_effort AS e
                WHERE e.heap_id = s.heap_id AND e.mapped_count > 0
            ) AS is_growing,
            s.heap_id IN (SELECT e.heap_id FROM early_free AS e) AS is_early,
            k.is_lossy AS is_lossy
        FROM heap_sum AS s
        JOIN heap AS h ON h.heap_id = s.heap_id
        JOIN known AS k ON k.heap_id = s.heap_id
        WHERE s.peak_reserved_bytes > 0
    ) AS g
) AS f
JOIN heap_place AS p ON p.heap_id = f.heap_id
UNION ALL
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    'pool hit rate',
    CASE WHEN r.request_count > 0 THEN CAST(r.request_count - r.miss_count AS REAL) / r.request_count END,
    'ratio',
    CASE
        WHEN r.is_partial OR coalesce(r.request_count, 0) = 0 THEN 'unknown'
        WHEN (r.request_count - r.miss_count) * 10 > r.request_count * 9 THEN 'good'
        WHEN (r.request_count - r.miss_count) * 10 >= r.request_count * 7 THEN 'warning'
        ELSE 'danger'
    END,
    CASE
        WHEN coalesce(r.request_count, 0) = 0
            THEN 'No request came after the warm-up (' || r.warm_up || '), in which ' || r.all_miss_count || ' of '
                || r.all_count || CASE r.all_count WHEN 1 THEN ' request' ELSE ' requests' END || ' asked the driver.'
        ELSE r.miss_count || ' of ' || r.request_count
            || CASE r.request_count WHEN 1 THEN ' request' ELSE ' requests' END || ' after the warm-up (' || r.warm_up
            || ') asked the driver'
            || CASE
                WHEN r.is_partial THEN ', as far as is known.'
                WHEN (r.request_count - r.miss_count) * 10 > r.request_count * 9 THEN ': nothing to gain.'
                ELSE CASE
                        WHEN EXISTS (SELECT 1 FROM pool_sum AS z WHERE z.heap_id = r.heap_id AND z.flush_count > 0)
                            THEN ': a cache that is not emptied could spare up to '
                        ELSE ': memory taken beforehand, or in larger pieces, could spare up to '
                    END || r.miss_count || CASE r.miss_count WHEN 1 THEN ' call' ELSE ' calls' END || '.'
            END
    END,
    r.is_partial
FROM (
    SELECT
        b.heap_id AS heap_id,
        b.all_count AS all_count,
        b.all_miss_count AS all_miss_count,
        CASE
            WHEN NOT b.has_steps THEN 'up to the peak'
            WHEN b.warm_up_count = 1 THEN 'the first step'
            ELSE 'the first two steps'
        END AS warm_up,
        CASE WHEN b.has_steps THEN b.warm_count ELSE b.after_peak_count END AS request_count,
        CASE WHEN b.has_steps THEN b.warm_miss_count ELSE b.after_peak_miss_count END AS miss_count,
        b.is_partial AS is_partial
    FROM (
        SELECT
            s.heap_id AS heap_id,
            sum(n.allocation_count) AS all_count,
            sum(n.miss_count) AS all_miss_count,
            e.after_peak_count AS after_peak_count,
            e.after_peak_miss_count AS after_peak_miss_count,
            coalesce(w.step_count > w.warm_up_count, 0) AS has_steps,
            w.warm_up_count AS warm_up_count,
            w.allocation_count AS warm_count,
            w.miss_count AS warm_miss_count,
            sum(n.allocation_count) < s.allocation_count OR k.is_lossy AS is_partial
        FROM pool_hit AS n
        JOIN heap_sum AS s ON s.heap_id = n.heap_id
        JOIN known AS k ON k.heap_id = n.heap_id
        LEFT JOIN pool_effort AS e ON e.heap_id = n.heap_id
        LEFT JOIN (
            SELECT
                t.heap_id,
                max(u.step_count) AS step_count,
                max(u.warm_up_count) AS warm_up_count,
                sum(CASE WHEN t.generation > u.warm_up_count THEN t.allocation_count END) AS allocation_count,
                sum(CASE WHEN t.generation > u.warm_up_count THEN t.miss_count END) AS miss_count
            FROM step_sum AS t
            JOIN heap AS o ON o.heap_id = t.heap_id
            JOIN warm_up AS u ON u.process_id = o.process_id
            GROUP BY t.heap_id
        ) AS w ON w.heap_id = n.heap_id
        GROUP BY n.heap_id
    ) AS b
    WHERE b.all_count > 0
) AS r
JOIN heap_place AS p ON p.heap_id = r.heap_id
UNION ALL
-- A pool that nothing is known of but its blocks: CANN's own, whose memory the device maps by itself.
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    b.measure,
    NULL,
    'ratio',
    'unknown',
    'Not judged: the pool''s reserved bytes are not known, for no driver memory was seen to be its own.',
    1
FROM heap_sum AS s
JOIN heap_place AS p ON p.heap_id = s.heap_id
JOIN (SELECT 'fragmentation' AS measure UNION ALL SELECT 'pool hit rate') AS b
WHERE p.level = 'pool' AND s.reserved_source IS NULL AND s.allocation_count > 0
    AND (b.measure = 'fragmentation' OR NOT EXISTS (
        SELECT 1
        FROM pool_hit AS n
        WHERE n.heap_id = s.heap_id AND n.allocation_count > 0
    ))
UNION ALL
SELECT
    z.host,
    z.rank,
    z.pid,
    z.device,
    NULL,
    NULL,
    'zero copy',
    CASE WHEN z.registered_count > 0 THEN z.zero_copy_ratio END,
    'ratio',
    CASE
        WHEN z.is_partial THEN 'unknown'
        WHEN z.registered_count = 0 THEN 'not applicable'
        ELSE z.verdict
    END,
    z.copy_count || CASE z.copy_count WHEN 1 THEN ' copy' ELSE ' copies' END || ' moved ' || CASE
            WHEN z.size_bytes >= 1073741824 THEN printf('%.1f GiB', z.size_bytes / 1073741824.0)
            WHEN z.size_bytes >= 1048576 THEN printf('%.1f MiB', z.size_bytes / 1048576.0)
            ELSE printf('%.1f KiB', z.size_bytes / 1024.0)
        END
        || ' between host and device, ' || CASE
        WHEN z.registered_count = 0 AND z.is_partial
            THEN 'none of it from or to registered memory, as far as is known.'
        WHEN z.registered_count = 0 THEN 'none of it from or to registered memory: the measure does not apply.'
        ELSE CASE
            WHEN z.registered_bytes >= 1073741824 THEN printf('%.1f GiB', z.registered_bytes / 1073741824.0)
            WHEN z.registered_bytes >= 1048576 THEN printf('%.1f MiB', z.registered_bytes / 1048576.0)
            ELSE printf('%.1f KiB', z.registered_bytes / 1024.0)
        END
            || ' of it from or to registered memory' || CASE
            WHEN z.is_partial THEN ', as far as is known.'
            WHEN z.verdict = 'good' THEN ': nothing to gain.'
            ELSE ': registering the rest too could spare the copies of ' || CASE
            WHEN z.other_bytes >= 1073741824 THEN printf('%.1f GiB', z.other_bytes / 1073741824.0)
            WHEN z.other_bytes >= 1048576 THEN printf('%.1f MiB', z.other_bytes / 1048576.0)
            ELSE printf('%.1f KiB', z.other_bytes / 1024.0)
        END || '.'
        END
    END,
    z.is_partial
FROM (
    SELECT
        zero_copy.host AS host,
        zero_copy.rank AS rank,
        zero_copy.pid AS pid,
        zero_copy.device AS device,
        zero_copy.copy_count AS copy_count,
        zero_copy.size_bytes AS size_bytes,
        zero_copy.registered_count AS registered_count,
        zero_copy.registered_bytes AS registered_bytes,
        zero_copy.size_bytes - zero_copy.registered_bytes AS other_bytes,
        zero_copy.zero_copy_ratio AS zero_copy_ratio,
        zero_copy.verdict AS verdict,
        zero_copy.is_partial AS is_partial
    FROM zero_copy
) AS z
WHERE z.verdict IS NOT NULL;
