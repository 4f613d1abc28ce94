-- A verdict on each heap's figures, and what to do about it.

-- catalog: first 2, not counted, in csv
CREATE VIEW health (
    -- A verdict on each heap's figures, with advice. Good, warning, danger: driver time per allocation < 10, 10 to 50,
    -- > 50 us; fragmentation where it hurt most < 10, 10 to 30, > 30 %; pool hit rate after the warm-up > 90, 70 to 90, < 70 %;
    -- zero copy > 80, 50 to 80, < 50 %. What is not good is 'minor' where there is less of it than the floor.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: host memory.
    device,
    -- Name of the heap. NULL: the measure is not of one heap (zero copy).
    heap,
    -- Level of the heap. NULL: the measure is not of one heap.
    level,
    -- 'allocation cost': of a pool the time in the driver over all its allocations, of other memory over those that are no
    -- pool's; 'fragmentation': the share of reserved memory that was unused, at the worst of the moments of
    -- queries/fragmentation_verdict.sql; 'pool hit rate': after the warm-up (two steps), which is, without steps, all up to the pool's
    -- peak; 'zero copy': as in view zero_copy.
    measure,
    -- Its value. Fragmentation: of a warning or danger at least, else at most. NULL: it does not apply, nothing came after the
    -- warm-up, or it is not judged (advice says why).
    value,
    -- Unit of the value: 'ns' (mean per allocation) or 'ratio'.
    unit,
    -- 'good', 'warning' or 'danger'; 'minor' (neither good nor worth a word: amount is below floor); 'not applicable' (zero
    -- copy where no registered memory is copied from or to); 'unknown' where is_partial is 1 or there is no value.
    verdict,
    -- What the value is made of and what would better it, a sentence with figures.
    advice,
    -- 1: events were lost, the recording began late or was paused, or not all that the value is made of is known, so that
    -- nothing is claimed; 0: not.
    is_partial,
    -- Why the verdict is 'unknown': 'not all was recorded'; 'sizes as requested alone' (what blocks were given beyond that
    -- decides); 'other streams may use it' (of a pool that tells a free when it is asked for); 'reserved bytes not known' (of the pool); 'nothing after the
    -- warm-up'; 'kept part only' (fragmentation: nothing bad is known, but not all growths and failures were kept). NULL: it is
    -- not.
    reason,
    -- Fragmentation: the moment that the value is of, as in queries/fragmentation_verdict.sql. NULL: another measure.
    moment,
    -- What is compared with the floor: bytes that were unused, or copied without need; nanoseconds in all calls; requests after
    -- the warm-up. NULL: it does not apply.
    amount,
    -- Below it a verdict that is not good is 'minor': of npumem-ingest --threshold, at least its share of the device. Unit: as amount.
    floor
) AS
-- How much of each heap's run is known: whether the detail begins late, and whether anything was lost of it, or came and
-- went in a pause.
WITH known AS (
    SELECT
        s.heap_id AS heap_id,
        i.detail_begin_seq IS NOT NULL AS is_cut,
        i.events_seen > i.events_ingested + i.events_unkept OR i.bytes_cut > 0
            OR i.unknown_reference_count > 0 OR i.baseline = 'unknown' OR s.is_whole_run = 0
            OR EXISTS (SELECT 1 FROM z_pause AS w WHERE w.process_id = q.process_id AND w.is_memory_told = 0) AS is_lossy
    FROM z_heap_sum AS s
    JOIN heap AS h ON h.heap_id = s.heap_id
    LEFT JOIN process AS q ON q.process_id = h.process_id
    LEFT JOIN input AS i ON i.input_id = q.input_id
)
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    'allocation cost',
    c.value,
    'ns',
    CASE
        WHEN c.is_partial THEN 'unknown'
        WHEN c.value < 10000 THEN 'good'
        WHEN c.cost_ns < t.floor THEN 'minor'
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
        WHEN c.cost_ns < t.floor THEN ': too little to matter.'
        WHEN c.is_pool = 1
            THEN CASE
                WHEN EXISTS (SELECT 1 FROM z_pool_sum AS z WHERE z.heap_id = c.heap_id AND z.flush_count > 0)
                    THEN ': a cache that is not emptied could gain up to '
                ELSE ': memory taken beforehand, or in larger pieces, could gain up to '
            END || c.cost_text || '.'
        ELSE ': memory kept for reuse, by a pool, could gain up to ' || c.cost_text || '.'
    END,
    c.is_partial,
    CASE WHEN c.is_partial THEN 'not all was recorded' END,
    NULL,
    c.cost_ns,
    t.floor
FROM (
    SELECT
        a.heap_id AS heap_id,
        a.cost_ns AS cost_ns,
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
                            JOIN z_heap_sum AS v ON v.heap_id = x.heap_id
                            WHERE x.device_id = h.device_id AND x.process_id = h.process_id AND x.level = 7
                        ), 0)
                    ELSE 0
                END AS cost_ns,
                e.segment_cost_count + e.mapped_count < e.segment_count OR k.is_cut
                    OR (e.mapped_count > 0 AND (
                        SELECT count(*)
                        FROM z_pool_effort AS o
                        JOIN heap AS x ON x.heap_id = o.heap_id
                        WHERE x.device_id = h.device_id AND x.process_id = h.process_id AND x.level IN (2, 3)
                            AND o.mapped_count > 0
                    ) > 1)
                    OR k.is_lossy AS is_partial
            FROM z_pool_effort AS e
            JOIN z_heap_sum AS s ON s.heap_id = e.heap_id
            JOIN heap AS h ON h.heap_id = e.heap_id
            JOIN known AS k ON k.heap_id = e.heap_id
            WHERE h.level IN (2, 3) AND s.allocation_count > 0
                AND (e.segment_cost_count > 0 OR (e.mapped_count > 0 AND EXISTS (
                    SELECT 1
                    FROM heap AS x
                    JOIN z_heap_sum AS v ON v.heap_id = x.heap_id
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
            FROM z_heap_sum AS s
            JOIN heap AS h ON h.heap_id = s.heap_id
            JOIN known AS k ON k.heap_id = s.heap_id
            LEFT JOIN z_pool_effort AS e ON e.heap_id = s.heap_id
            WHERE h.level NOT IN (2, 3) AND coalesce(h.module_id, 33) = 33
                AND s.cost_count > coalesce(e.segment_cost_count, 0)
                AND NOT (h.level = 7 AND EXISTS (
                    SELECT 1
                    FROM z_pool_effort AS o
                    JOIN heap AS x ON x.heap_id = o.heap_id
                    WHERE x.device_id = h.device_id AND x.process_id = h.process_id AND x.level IN (2, 3)
                        AND o.mapped_count > 0
                ))
        ) AS m
    ) AS a
) AS c
JOIN z_heap_place AS p ON p.heap_id = c.heap_id
JOIN z_threshold AS t ON t.measure = 'allocation cost'
UNION ALL
SELECT
    f.host, f.rank, f.pid, f.device, f.heap, f.level,
    'fragmentation',
    CASE WHEN f.verdict IN ('warning', 'danger') THEN f.min_ratio ELSE f.max_ratio END,
    'ratio',
    f.verdict,
    CASE WHEN f.is_bounded THEN CASE WHEN f.verdict IN ('warning', 'danger') THEN 'at least ' ELSE 'at most ' END ELSE '' END
        || f.unused_text || ' of ' || f.reserved_text || ' reserved ' || CASE f.moment
            WHEN 'peak' THEN CASE
                WHEN f.inactive_split_bytes > 0 THEN 'was unused at the peak, ' || f.split_text || ' of it inactive split'
                ELSE 'was unused at the peak'
            END
            WHEN 'growth' THEN 'was unused when a request of ' || f.request_text || ' made the pool grow'
            WHEN 'end' THEN 'was inactive split at the end'
            WHEN 'reserve' THEN 'was never used at once, when the pool held most'
            ELSE 'was inactive split when an allocation failed'
        END
        || CASE
            WHEN f.reason = 'not all was recorded' THEN ', as far as is known.'
            WHEN f.reason = 'kept part only' THEN ': the worst of what was kept; before that it may have been worse.'
            WHEN f.reason = 'other streams may use it'
                THEN ': at most, for what other streams still used counts as free.'
            WHEN f.verdict = 'unknown' THEN ': only requested sizes are known, and what blocks were given beyond decides.'
            WHEN f.verdict = 'good' THEN ': nothing to gain.'
            WHEN f.verdict = 'minor' THEN ': too little to matter.'
            WHEN f.is_mapped AND coalesce(f.inactive_split_bytes, 1) > 0
                THEN ': its segments grow already; whose blocks hold them stands in view fragmentation_blocker.'
            WHEN coalesce(f.inactive_split_bytes, 1) > 0 AND f.heap = 'ptaCaching'
                THEN ': PYTORCH_NPU_ALLOC_CONF=expandable_segments:True could give back up to ' || f.unused_text || '.'
            WHEN coalesce(f.inactive_split_bytes, 1) > 0
                THEN ': segments that can grow could give back up to ' || f.unused_text || '.'
            ELSE ': emptying its cache between phases could give back up to ' || f.unused_text || '.'
        END,
    f.verdict = 'unknown',
    f.reason,
    f.moment,
    f.amount,
    f.floor_bytes
FROM (
    SELECT
        g.host AS host,
        g.rank AS rank,
        g.pid AS pid,
        g.device AS device,
        g.heap AS heap,
        g.level AS level,
        g.moment AS moment,
        g.min_ratio AS min_ratio,
        g.max_ratio AS max_ratio,
        g.verdict AS verdict,
        g.reason AS reason,
        g.inactive_split_bytes AS inactive_split_bytes,
        g.floor_bytes AS floor_bytes,
        g.amount AS amount,
        g.min_unused_bytes < g.max_unused_bytes AND g.reason IS NOT 'other streams may use it' AS is_bounded,
        g.heap_id IN (SELECT e.heap_id FROM z_pool_effort AS e WHERE e.mapped_count > 0) AS is_mapped,
        CASE
            WHEN g.amount >= 1073741824 THEN printf('%.1f GiB', g.amount / 1073741824.0)
            WHEN g.amount >= 1048576 THEN printf('%.1f MiB', g.amount / 1048576.0)
            ELSE printf('%.1f KiB', g.amount / 1024.0)
        END AS unused_text,
        CASE
            WHEN g.reserved_bytes >= 1073741824 THEN printf('%.1f GiB', g.reserved_bytes / 1073741824.0)
            WHEN g.reserved_bytes >= 1048576 THEN printf('%.1f MiB', g.reserved_bytes / 1048576.0)
            ELSE printf('%.1f KiB', g.reserved_bytes / 1024.0)
        END AS reserved_text,
        CASE
            WHEN g.inactive_split_bytes >= 1073741824 THEN printf('%.1f GiB', g.inactive_split_bytes / 1073741824.0)
            WHEN g.inactive_split_bytes >= 1048576 THEN printf('%.1f MiB', g.inactive_split_bytes / 1048576.0)
            ELSE printf('%.1f KiB', g.inactive_split_bytes / 1024.0)
        END AS split_text,
        CASE
            WHEN g.requested_bytes >= 1073741824 THEN printf('%.1f GiB', g.requested_bytes / 1073741824.0)
            WHEN g.requested_bytes >= 1048576 THEN printf('%.1f MiB', g.requested_bytes / 1048576.0)
            ELSE printf('%.1f KiB', g.requested_bytes / 1024.0)
        END AS request_text
    FROM (
        SELECT
            v.host, v.rank, v.pid, v.device, v.heap, v.level,
            v.heap_id,
            v.moment,
            v.reserved_bytes,
            v.min_unused_bytes,
            v.max_unused_bytes,
            v.min_ratio,
            v.max_ratio,
            v.inactive_split_bytes,
            v.requested_bytes,
            v.floor_bytes,
            CASE WHEN c.is_cut AND v.verdict IN ('good', 'minor') THEN 'unknown' ELSE v.verdict END AS verdict,
            CASE WHEN c.is_cut AND v.verdict IN ('good', 'minor') THEN 'kept part only' ELSE v.reason END AS reason,
            CASE WHEN v.verdict IN ('warning', 'danger') THEN v.min_unused_bytes ELSE v.max_unused_bytes END AS amount,
            row_number() OVER (
                PARTITION BY v.heap_id
                ORDER BY CASE v.verdict
                    WHEN 'danger' THEN 0
                    WHEN 'warning' THEN 1
                    WHEN 'unknown' THEN 2
                    WHEN 'minor' THEN 3
                    ELSE 4
                END, v.min_ratio DESC, v.max_ratio DESC, v.moment DESC
            ) AS place
        FROM z_fragmentation_verdict AS v
        JOIN known AS c ON c.heap_id = v.heap_id
    ) AS g
    WHERE g.place = 1
) AS f
UNION ALL
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    'pool hit rate',
    CASE WHEN r.request_count > 0 THEN CAST(r.request_count - r.miss_count AS REAL) / r.request_count END,
    'ratio',
    CASE
        WHEN r.is_partial OR coalesce(r.request_count, 0) = 0 THEN 'unknown'
        WHEN (r.request_count - r.miss_count) * 10 > r.request_count * 9 THEN 'good'
        WHEN r.request_count < t.floor THEN 'minor'
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
                WHEN r.request_count < t.floor THEN ': too few requests to matter.'
                ELSE CASE
                        WHEN EXISTS (SELECT 1 FROM z_pool_sum AS z WHERE z.heap_id = r.heap_id AND z.flush_count > 0)
                            THEN ': a cache that is not emptied could spare up to '
                        ELSE ': memory taken beforehand, or in larger pieces, could spare up to '
                    END || r.miss_count || CASE r.miss_count WHEN 1 THEN ' call' ELSE ' calls' END || '.'
            END
    END,
    r.is_partial,
    CASE
        WHEN r.is_partial THEN 'not all was recorded'
        WHEN coalesce(r.request_count, 0) = 0 THEN 'nothing after the warm-up'
    END,
    NULL,
    r.request_count,
    t.floor
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
        FROM z_pool_hit AS n
        JOIN z_heap_sum AS s ON s.heap_id = n.heap_id
        JOIN known AS k ON k.heap_id = n.heap_id
        LEFT JOIN z_pool_effort AS e ON e.heap_id = n.heap_id
        LEFT JOIN (
            SELECT
                t.heap_id,
                max(u.step_count) AS step_count,
                max(u.warm_up_count) AS warm_up_count,
                sum(CASE WHEN t.generation > u.warm_up_count THEN t.allocation_count END) AS allocation_count,
                sum(CASE WHEN t.generation > u.warm_up_count THEN t.miss_count END) AS miss_count
            FROM z_step_sum AS t
            JOIN heap AS o ON o.heap_id = t.heap_id
            JOIN z_warm_up AS u ON u.process_id = o.process_id
            GROUP BY t.heap_id
        ) AS w ON w.heap_id = n.heap_id
        GROUP BY n.heap_id
    ) AS b
    WHERE b.all_count > 0
) AS r
JOIN z_heap_place AS p ON p.heap_id = r.heap_id
JOIN z_threshold AS t ON t.measure = 'pool hit rate'
UNION ALL
-- A pool that nothing is known of but its blocks: CANN's own, whose memory the device maps by itself.
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    b.measure,
    NULL,
    'ratio',
    'unknown',
    'Not judged: the pool''s reserved bytes are not known, for no driver memory was seen to be its own.',
    1,
    'reserved bytes not known',
    NULL,
    NULL,
    NULL
FROM z_heap_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
JOIN (SELECT 'fragmentation' AS measure UNION ALL SELECT 'pool hit rate') AS b
WHERE p.level = 'pool' AND s.reserved_source IS NULL AND s.allocation_count > 0
    AND (b.measure = 'fragmentation' OR NOT EXISTS (
        SELECT 1
        FROM z_pool_hit AS n
        WHERE n.heap_id = s.heap_id AND n.allocation_count > 0
    ))
UNION ALL
SELECT
    z.host, z.rank, z.pid, z.device,
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
            WHEN z.verdict = 'minor' THEN ': too little to matter.'
            ELSE ': registering the rest too could spare the copies of ' || CASE
            WHEN z.other_bytes >= 1073741824 THEN printf('%.1f GiB', z.other_bytes / 1073741824.0)
            WHEN z.other_bytes >= 1048576 THEN printf('%.1f MiB', z.other_bytes / 1048576.0)
            ELSE printf('%.1f KiB', z.other_bytes / 1024.0)
        END || '.'
        END
    END,
    z.is_partial,
    CASE WHEN z.is_partial THEN 'not all was recorded' END,
    NULL,
    CASE WHEN z.registered_count > 0 THEN z.other_bytes END,
    z.floor_bytes
FROM (
    SELECT
        zero_copy.floor_bytes AS floor_bytes,
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
