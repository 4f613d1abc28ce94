-- A verdict on each heap's figures, and what to do about it.

CREATE VIEW z_fragmentation_verdict (
    -- How much of what each pool had reserved was unused where that hurt, and whether it is too much. 'peak': at the peak of
    -- what was live; 'growth': when a part of it grew to the largest that it ever was, beside what was free in that part (of
    -- the parts the one with most of it); 'failure': when an allocation failed (of all failures on the device the one with the
    -- largest share); 'reserve': when it held most, if that was more than at the peak: beyond what its blocks took then, and beyond
    -- what they ever took at once; 'end': of a pool of which neither an allocation nor a free was seen, so that nobody knows its peak. Each row is of one moment. Of many snapshots only requested sizes are known: what blocks were given beyond that
    -- is bounded, so there are two figures, at least and at most.
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
    -- 'peak', 'growth', 'failure', 'reserve' or 'end'.
    moment,
    -- Number of the moment. NULL: none ('growth').
    moment_id,
    -- Place in the order of events. NULL: before the first event.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- What the pool held of the driver's memory. Unit: bytes.
    reserved_bytes,
    -- Of these, what no block took, at least; 'growth': in the part of the pool that the request belongs to, without what is
    -- left over of its new segment; 'failure', 'end': in segments that hold something (inactive split), for the rest can be given
    -- back; 'reserve': what was never used at once, without what came for a request that was not served then. Unit: bytes.
    min_unused_bytes,
    -- The same at most. Unit: bytes.
    max_unused_bytes,
    -- min_unused_bytes / reserved_bytes. Unit: 0 to 1.
    min_ratio,
    -- max_unused_bytes / reserved_bytes. Unit: 0 to 1.
    max_ratio,
    -- Free bytes in segments that hold something, which emptying the cache cannot give back, at most. Unit: bytes. NULL: not
    -- known.
    inactive_split_bytes,
    -- What was asked for ('growth', 'failure'). Unit: bytes. NULL: not known.
    requested_bytes,
    -- Below it nothing is called a warning or a danger (npumem-ingest --threshold). Unit: bytes.
    floor_bytes,
    -- 'good' (at most 10 %), 'warning' (at least), 'danger' (at least 30 %), 'minor' (below the floor) or 'unknown'.
    verdict,
    -- Why it is 'unknown', as health.reason. NULL: it is not.
    reason,
    -- Number of the heap.
    heap_id
) AS
-- Where it is looked at: what is free there at most, and how much of that may not be.
WITH at_moment AS (
    SELECT
        s.heap_id AS heap_id,
        CASE WHEN s.allocation_count + s.free_count > 0 THEN 'peak' ELSE 'end' END AS moment,
        m.moment_id AS moment_id,
        s.peak_seq AS seq,
        s.peak_ns AS ns,
        coalesce(k.reserved_bytes, s.reserved_at_peak_bytes) AS reserved_bytes,
        coalesce(
            CASE WHEN s.allocation_count + s.free_count = 0 THEN k.stuck_bytes END,
            k.free_bytes,
            max(0, s.reserved_at_peak_bytes - s.peak_bytes)
        ) AS unused_bytes,
        coalesce(k.min_rounding_bytes, 0) AS min_rounding_bytes,
        CASE
            WHEN k.heap_id IS NOT NULL THEN k.max_rounding_bytes
            WHEN h.size_basis = 'block' THEN 0
        END AS max_rounding_bytes,
        k.stuck_bytes AS stuck_bytes,
        NULL AS requested_bytes,
        coalesce(k.is_doubtful OR k.is_partial, 0) AS is_lossy
    FROM z_heap_sum AS s
    JOIN heap AS h ON h.heap_id = s.heap_id
    LEFT JOIN moment AS m ON m.heap_id = s.heap_id AND m.kind = 1
    LEFT JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id AND k.heap_id = s.heap_id
    UNION ALL
    SELECT
        g.heap_id,
        'growth',
        NULL,
        g.seq,
        g.ns,
        g.reserved_bytes,
        g.free_bytes,
        g.min_rounding_bytes,
        g.max_rounding_bytes,
        NULL,
        g.size_bytes,
        g.is_doubtful OR g.is_partial
    FROM (
        SELECT
            o.heap_id,
            o.seq,
            o.ns,
            o.size_bytes,
            o.reserved_bytes,
            o.free_bytes,
            o.min_rounding_bytes,
            o.max_rounding_bytes,
            o.is_doubtful,
            o.is_partial,
            row_number() OVER (
                PARTITION BY o.heap_id
                ORDER BY max(o.free_bytes - o.max_rounding_bytes, 0) DESC, o.free_bytes DESC, o.part_id
            ) AS place
        FROM z_pool_growth AS o
    ) AS g
    WHERE g.place = 1
    UNION ALL
    SELECT
        w.heap_id,
        'failure',
        w.moment_id,
        w.seq,
        w.ns,
        w.reserved_bytes,
        w.stuck_bytes,
        w.min_rounding_bytes,
        w.max_rounding_bytes,
        w.stuck_bytes,
        w.requested_bytes,
        w.is_lossy
    FROM (
        SELECT
            k.heap_id AS heap_id,
            m.moment_id AS moment_id,
            m.seq AS seq,
            m.ns AS ns,
            k.reserved_bytes AS reserved_bytes,
            k.stuck_bytes AS stuck_bytes,
            k.min_rounding_bytes AS min_rounding_bytes,
            k.max_rounding_bytes AS max_rounding_bytes,
            nullif(f.requested_bytes, 0) AS requested_bytes,
            k.is_doubtful OR k.is_partial AS is_lossy,
            row_number() OVER (
                PARTITION BY k.heap_id
                ORDER BY max(k.stuck_bytes - coalesce(k.max_rounding_bytes, k.stuck_bytes), 0) * 1.0 / k.reserved_bytes DESC,
                    m.moment_id
            ) AS place
        FROM moment AS m
        JOIN failure AS f ON f.failure_id = m.failure_id
        JOIN heap AS a ON a.heap_id = f.heap_id
        JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id
        JOIN heap AS h ON h.heap_id = k.heap_id
        WHERE m.kind = 4 AND a.device_id = h.device_id AND k.reserved_bytes > 0 AND k.stuck_bytes IS NOT NULL
            AND coalesce(f.error_code, 0) <> 207005
    ) AS w
    WHERE w.place = 1
    UNION ALL
    SELECT
        w.heap_id,
        'reserve',
        w.moment_id,
        w.seq,
        w.ns,
        w.reserved_bytes,
        max(w.reserved_bytes - max(w.occupied_bytes, b.occupied_bytes), 0),
        max(w.occupied_bytes + w.min_rounding_bytes, b.occupied_bytes + b.min_rounding_bytes)
            - max(w.occupied_bytes, b.occupied_bytes),
        max(w.occupied_bytes + w.max_rounding_bytes, b.occupied_bytes + b.max_rounding_bytes)
            - max(w.occupied_bytes, b.occupied_bytes),
        w.stuck_bytes,
        NULL,
        w.is_lossy
    FROM (
        SELECT
            k.heap_id AS heap_id,
            m.moment_id AS moment_id,
            m.seq AS seq,
            m.ns AS ns,
            k.reserved_bytes AS reserved_bytes,
            -- What had come for a request that was not served then is no waste.
            k.occupied_bytes + coalesce((
                SELECT min(x.fresh_bytes, x.free_bytes)
                FROM z_heap_sample AS x
                WHERE x.heap_id = k.heap_id
                    AND x.since_seq = (SELECT max(y.since_seq) FROM z_heap_sample AS y WHERE y.heap_id = k.heap_id AND y.since_seq <= m.seq)
            ), 0) AS occupied_bytes,
            k.min_rounding_bytes AS min_rounding_bytes,
            k.max_rounding_bytes AS max_rounding_bytes,
            k.stuck_bytes AS stuck_bytes,
            k.is_doubtful OR k.is_partial AS is_lossy
        FROM moment AS m
        JOIN fragmentation_sample AS k ON k.moment_id = m.moment_id
        WHERE m.kind = 6
    ) AS w
    JOIN moment AS q ON q.heap_id = w.heap_id AND q.kind = 1
    JOIN fragmentation_sample AS b ON b.moment_id = q.moment_id
)
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    v.moment,
    v.moment_id,
    v.seq,
    v.ns,
    v.reserved_bytes,
    v.min_unused_bytes,
    v.max_unused_bytes,
    v.min_ratio,
    v.max_ratio,
    v.inactive_split_bytes,
    v.requested_bytes,
    v.floor_bytes,
    CASE
        WHEN v.is_lossy THEN 'unknown'
        WHEN v.max_ratio < 0.1 THEN 'good'
        WHEN v.max_unused_bytes < v.floor_bytes THEN 'minor'
        WHEN v.min_ratio < 0.1 THEN 'unknown'
        WHEN v.min_unused_bytes < v.floor_bytes THEN 'minor'
        WHEN v.min_ratio <= 0.3 THEN 'warning'
        ELSE 'danger'
    END,
    CASE
        WHEN v.is_lossy THEN 'not all was recorded'
        WHEN v.max_ratio < 0.1 OR v.max_unused_bytes < v.floor_bytes OR v.min_ratio >= 0.1 THEN NULL
        WHEN v.is_early THEN 'other streams may use it'
        ELSE 'sizes as requested alone'
    END,
    v.heap_id
FROM (
    SELECT
        u.heap_id AS heap_id,
        u.moment AS moment,
        u.moment_id AS moment_id,
        u.seq AS seq,
        u.ns AS ns,
        u.reserved_bytes AS reserved_bytes,
        u.min_unused_bytes AS min_unused_bytes,
        u.unused_bytes AS max_unused_bytes,
        CAST(u.min_unused_bytes AS REAL) / u.reserved_bytes AS min_ratio,
        CAST(u.unused_bytes AS REAL) / u.reserved_bytes AS max_ratio,
        max(u.stuck_bytes - u.min_rounding_bytes, 0) AS inactive_split_bytes,
        u.requested_bytes AS requested_bytes,
        max(t.floor, CAST(t.capacity_ratio * coalesce(u.capacity_bytes, 0) AS INTEGER)) AS floor_bytes,
        u.is_lossy AS is_lossy,
        u.is_early AS is_early
    FROM (
        SELECT
            a.heap_id AS heap_id,
            a.moment AS moment,
            a.moment_id AS moment_id,
            a.seq AS seq,
            a.ns AS ns,
            a.reserved_bytes AS reserved_bytes,
            max(a.unused_bytes - a.min_rounding_bytes, 0) AS unused_bytes,
            max(
                a.unused_bytes - coalesce(a.max_rounding_bytes, a.unused_bytes)
                    - CASE WHEN e.heap_id IS NULL THEN 0 ELSE coalesce(e.max_pending_bound_bytes, a.unused_bytes) END,
                0
            ) AS min_unused_bytes,
            a.stuck_bytes AS stuck_bytes,
            a.min_rounding_bytes AS min_rounding_bytes,
            a.requested_bytes AS requested_bytes,
            a.is_lossy OR i.events_seen > i.events_ingested + i.events_unkept OR i.bytes_cut > 0
                OR i.unknown_reference_count > 0 OR i.baseline = 'unknown' OR s.is_whole_run = 0
                OR EXISTS (SELECT 1 FROM z_pause AS w WHERE w.process_id = q.process_id AND w.is_memory_told = 0)
                AS is_lossy,
            e.heap_id IS NOT NULL AS is_early,
            d.capacity_bytes AS capacity_bytes
        FROM at_moment AS a
        JOIN z_heap_sum AS s ON s.heap_id = a.heap_id
        JOIN heap AS h ON h.heap_id = a.heap_id
        LEFT JOIN device AS d ON d.device_id = h.device_id
        LEFT JOIN process AS q ON q.process_id = h.process_id
        LEFT JOIN input AS i ON i.input_id = q.input_id
        LEFT JOIN z_early_free AS e ON e.heap_id = a.heap_id
        WHERE a.reserved_bytes > 0 AND h.level IN (2, 3)
    ) AS u
    CROSS JOIN z_threshold AS t
    WHERE t.measure = 'fragmentation'
) AS v
JOIN z_heap_place AS p ON p.heap_id = v.heap_id
ORDER BY v.heap_id, CASE v.moment WHEN 'growth' THEN 1 WHEN 'failure' THEN 2 WHEN 'reserve' THEN 3 ELSE 0 END;

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
