-- usage_average.sql: how much did each heap use, reserve and leave idle on average over time?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; device number, NULL of host memory; heap name; begin_ns from when on, duration_ns how long it is
--             averaged, nanoseconds; mean_live_bytes, mean_reserved_bytes, mean_idle_bytes bytes, the latter two NULL where it is
--             no pool or not known; mean_idle_ratio 0 to 1; mean_to_peak_ratio near 1 is steady, near 0 a short peak; is_estimate
--             1 where buckets of several events were averaged by their begin and end
SELECT
    p.pid AS pid,
    p.device AS device,
    p.heap AS heap,
    w.begin_ns AS begin_ns,
    w.duration_ns AS duration_ns,
    CASE WHEN w.duration_ns > 0 THEN w.live_area / w.duration_ns END AS mean_live_bytes,
    CASE WHEN w.reserved_ns > 0 THEN w.reserved_area / w.reserved_ns END AS mean_reserved_bytes,
    CASE WHEN w.reserved_ns > 0 THEN w.idle_area / w.reserved_ns END AS mean_idle_bytes,
    CASE WHEN w.reserved_area > 0 THEN w.idle_area / w.reserved_area END AS mean_idle_ratio,
    CASE WHEN w.duration_ns > 0 AND s.peak_bytes > 0 THEN w.live_area / w.duration_ns / s.peak_bytes END AS mean_to_peak_ratio,
    w.is_estimate AS is_estimate
FROM (
    SELECT
        g.heap_id,
        min(g.begin_ns) AS begin_ns,
        sum(g.end_ns - g.begin_ns) AS duration_ns,
        sum(g.live_bytes * (g.end_ns - g.begin_ns)) AS live_area,
        sum(CASE WHEN g.reserved_bytes IS NOT NULL THEN g.end_ns - g.begin_ns END) AS reserved_ns,
        sum(g.reserved_bytes * (g.end_ns - g.begin_ns)) AS reserved_area,
        sum((g.reserved_bytes - g.live_bytes) * (g.end_ns - g.begin_ns)) AS idle_area,
        max(g.is_estimate AND g.end_ns > g.begin_ns) AS is_estimate
    FROM (
        SELECT
            u.heap_id,
            u.last_ns AS begin_ns,
            coalesce(n.last_ns, d.last_ns) AS end_ns,
            CASE
                WHEN n.first_seq < n.last_seq THEN (u.live_bytes + n.live_bytes) / 2.0
                ELSE 1.0 * u.live_bytes
            END AS live_bytes,
            CASE
                WHEN n.first_seq < n.last_seq THEN (u.reserved_bytes + n.reserved_bytes) / 2.0
                ELSE 1.0 * u.reserved_bytes
            END AS reserved_bytes,
            coalesce(n.first_seq < n.last_seq, 0) AS is_estimate
        FROM usage AS u
        JOIN z_heap_place AS h ON h.heap_id = u.heap_id
        JOIN (
            SELECT
                q.input_id,
                max(x.last_ns) AS last_ns
            FROM usage AS x
            JOIN z_heap_place AS q ON q.heap_id = x.heap_id
            GROUP BY q.input_id
        ) AS d ON d.input_id = h.input_id
        LEFT JOIN usage AS n
            ON n.heap_id = u.heap_id
            AND n.last_seq = (SELECT min(y.last_seq) FROM usage AS y WHERE y.heap_id = u.heap_id AND y.last_seq > u.last_seq)
        WHERE u.last_ns IS NOT NULL
    ) AS g
    GROUP BY g.heap_id
) AS w
JOIN z_heap_sum AS s ON s.heap_id = w.heap_id
JOIN z_heap_place AS p ON p.heap_id = w.heap_id
WHERE p.pid IS coalesce(:pid, p.pid)
ORDER BY mean_live_bytes DESC, p.pid, p.device, p.heap
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
