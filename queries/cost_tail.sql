-- cost_tail.sql: how slow are the slow allocation calls beside the usual ones, and how much of all time do they take?
-- A percentile is never less than the true one and at most 1/32 more; allocation_cost.sql is exact, and reads every row.
-- Parameters: none
-- Columns:    pid process; heap name; call_count calls whose cost is known; p50_ns, p90_ns, p99_ns, p999_ns cost that
--             half, 9 tenths, 99 hundredths and 999 thousandths of them do not pass, nanoseconds; max_ns nanoseconds;
--             tail_ratio p99_ns over p50_ns; slow_count calls in rows of the histogram above p99_ns, slow_ns what they
--             took, nanoseconds, and slow_ratio of the time of all calls, 0 to 1; slowest_site where the slowest was made
SELECT
    p.pid AS pid,
    p.heap AS heap,
    c.call_count AS call_count,
    min(c.p50_ns, m.cost_ns) AS p50_ns,
    min(c.p90_ns, m.cost_ns) AS p90_ns,
    min(c.p99_ns, m.cost_ns) AS p99_ns,
    min(c.p999_ns, m.cost_ns) AS p999_ns,
    m.cost_ns AS max_ns,
    CASE WHEN c.p50_ns > 0 THEN CAST(min(c.p99_ns, m.cost_ns) AS REAL) / min(c.p50_ns, m.cost_ns) END AS tail_ratio,
    coalesce(sum(CASE WHEN r.max_ns > c.p99_ns THEN r.call_count END), 0) AS slow_count,
    coalesce(sum(CASE WHEN r.max_ns > c.p99_ns THEN r.cost_ns END), 0) AS slow_ns,
    CASE
        WHEN c.cost_ns > 0
            THEN CAST(coalesce(sum(CASE WHEN r.max_ns > c.p99_ns THEN r.cost_ns END), 0) AS REAL) / c.cost_ns
    END AS slow_ratio,
    coalesce(f.label, '(no stack)') AS slowest_site
FROM (
    SELECT
        g.heap_id,
        g.call_count,
        g.cost_ns,
        min(CASE WHEN g.place * 2 >= g.call_count THEN g.max_ns END) AS p50_ns,
        min(CASE WHEN g.place * 10 >= g.call_count * 9 THEN g.max_ns END) AS p90_ns,
        min(CASE WHEN g.place * 100 >= g.call_count * 99 THEN g.max_ns END) AS p99_ns,
        min(CASE WHEN g.place * 1000 >= g.call_count * 999 THEN g.max_ns END) AS p999_ns
    FROM (
        SELECT
            x.heap_id,
            x.max_ns,
            t.call_count,
            t.cost_ns,
            sum(y.call_count) AS place
        FROM z_cost_histogram AS x
        JOIN z_cost_histogram AS y ON y.heap_id = x.heap_id AND y.min_ns <= x.min_ns
        JOIN (
            SELECT
                z.heap_id,
                sum(z.call_count) AS call_count,
                sum(z.cost_ns) AS cost_ns
            FROM z_cost_histogram AS z
            GROUP BY z.heap_id
        ) AS t ON t.heap_id = x.heap_id
        GROUP BY x.heap_id, x.min_ns
    ) AS g
    GROUP BY g.heap_id
) AS c
JOIN z_cost_histogram AS r ON r.heap_id = c.heap_id
JOIN z_heap_place AS p ON p.heap_id = c.heap_id
JOIN z_slowest_call AS m ON m.heap_id = c.heap_id AND m.place = 1
LEFT JOIN stack AS s ON s.stack_id = m.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
GROUP BY c.heap_id
ORDER BY c.cost_ns DESC, c.heap_id;
