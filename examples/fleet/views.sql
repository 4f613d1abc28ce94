-- views.sql: what an operator asks of all runs and ranks. One text for ClickHouse, DuckDB and SQLite, over the tables of
-- npumem export parquet (clickhouse.sql, duckdb.sql); a test compares the answers of the three row by row.
--
-- What keeps it one text: sums and extremes are taken where the rows are, in a GROUP BY inside; windows, joins and divisions stand
-- outside of it, over what is left. A window looks ahead (LEAD with three arguments), no aggregate has the name of a column, each
-- division multiplies by 1.0 first, and a column that a join may leave out can be NULL. A rank and a number of bytes that belong
-- together are one number, bytes * 1000000 + 999999 - rank, so that one maximum finds both (to 8 TiB a row, a million ranks).
-- Each view is asked with an ORDER BY of the one who asks. Times are nanoseconds since 1970, 0 where they are not known.

DROP VIEW IF EXISTS fleet_run;
CREATE VIEW fleet_run AS
-- Each run: when it began, which run of its job was before it ('': none), how many of its ranks are here, how it went.
SELECT
    r.job AS job,
    r.run AS run,
    r.start_ns AS start_ns,
    LEAD(r.run, 1, '') OVER (PARTITION BY r.job ORDER BY r.start_ns DESC, r.run DESC) AS previous_run,
    r.world_count AS world_count,
    r.rank_count AS rank_count,
    r.host_count AS host_count,
    r.failed_count AS failed_count,
    r.most_bytes AS most_bytes,
    r.most_share_ratio AS most_share_ratio,
    999999 - r.most_code % 1000000 AS most_rank,
    r.leaked_bytes AS leaked_bytes
FROM (
    SELECT
        job,
        run,
        COALESCE(MIN(run_start_ns), 0) AS start_ns,
        MAX(world_size) AS world_count,
        COUNT(DISTINCT rank) AS rank_count,
        COUNT(DISTINCT host) AS host_count,
        COUNT(DISTINCT CASE WHEN failure IS NOT NULL THEN COALESCE(rank, -pid) END) AS failed_count,
        MAX(peak_bytes) AS most_bytes,
        MAX(share_ratio) AS most_share_ratio,
        MAX(peak_bytes * 1000000 + 999999 - rank) AS most_code,
        SUM(leak_bytes) AS leaked_bytes
    FROM rank
    GROUP BY job, run
) AS r;

DROP VIEW IF EXISTS fleet_leak;
CREATE VIEW fleet_leak AS
-- Which sites leak, in how many of the job's runs, since which one, still in its last one or not, and how fast?
SELECT
    s.job AS job,
    s.site AS site,
    s.leaking_count AS run_count,
    j.run_count AS of_run_count,
    f.run AS first_run,
    s.first_ns AS first_ns,
    l.run AS last_run,
    CASE WHEN s.last_ns = j.last_ns THEN 1 ELSE 0 END AS is_in_last_run,
    s.most_ranks AS most_ranks,
    s.most_bytes AS most_bytes,
    s.fastest_bytes_per_step AS fastest_bytes_per_step
FROM (
    SELECT
        x.job AS job,
        x.place AS site,
        COUNT(*) AS leaking_count,
        MIN(r.start_ns) AS first_ns,
        MAX(r.start_ns) AS last_ns,
        MAX(x.rank_count) AS most_ranks,
        MAX(x.sum_bytes) AS most_bytes,
        MAX(x.fastest) AS fastest_bytes_per_step
    FROM (
        SELECT
            job,
            run,
            COALESCE(site, '(none)') AS place,
            COUNT(DISTINCT rank) AS rank_count,
            SUM(leak_bytes) AS sum_bytes,
            MAX(bytes_per_step) AS fastest
        FROM leak
        GROUP BY job, run, COALESCE(site, '(none)')
    ) AS x
    JOIN fleet_run AS r ON r.job = x.job AND r.run = x.run
    GROUP BY x.job, x.place
) AS s
JOIN (SELECT job, COUNT(*) AS run_count, MAX(start_ns) AS last_ns FROM fleet_run GROUP BY job) AS j ON j.job = s.job
JOIN (SELECT job, start_ns, MIN(run) AS run FROM fleet_run GROUP BY job, start_ns) AS f
    ON f.job = s.job AND f.start_ns = s.first_ns
JOIN (SELECT job, start_ns, MAX(run) AS run FROM fleet_run GROUP BY job, start_ns) AS l
    ON l.job = s.job AND l.start_ns = s.last_ns;

DROP VIEW IF EXISTS fleet_full;
CREATE VIEW fleet_full AS
-- Who came within 10 % of all that the device has?
SELECT job, run, host, rank, device, peak_bytes, capacity_bytes, share_ratio, step
FROM rank
WHERE share_ratio >= 0.9;

DROP VIEW IF EXISTS fleet_out_of_memory;
CREATE VIEW fleet_out_of_memory AS
-- What ran out of memory, why, and which site held most of it then?
SELECT
    o.job AS job,
    o.run AS run,
    o.host AS host,
    o.rank AS rank,
    o.device AS device,
    o.out_of_memory_id AS out_of_memory_id,
    o.outcome AS outcome,
    o.verdict AS verdict,
    o.tried_bytes AS tried_bytes,
    o.site AS asking_site,
    h.site AS holding_site,
    h.held_bytes AS held_bytes
FROM (
    SELECT
        job, run, host, rank, device, out_of_memory_id, outcome, verdict, tried_bytes, site,
        COALESCE(host, '') AS of_host,
        COALESCE(pid, -1) AS of_pid
    FROM oom
) AS o
LEFT JOIN (
    SELECT
        x.job AS job,
        x.run AS run,
        x.of_host AS of_host,
        x.of_pid AS of_pid,
        x.out_of_memory_id AS out_of_memory_id,
        x.site AS site,
        x.held_bytes AS held_bytes,
        ROW_NUMBER() OVER (
            PARTITION BY x.job, x.run, x.of_host, x.of_pid, x.out_of_memory_id
            ORDER BY x.held_bytes DESC, COALESCE(x.site, '')
        ) AS place
    FROM (
        SELECT
            job, run, COALESCE(host, '') AS of_host, COALESCE(pid, -1) AS of_pid, out_of_memory_id, site,
            SUM(live_bytes) AS held_bytes
        FROM oom_site
        GROUP BY job, run, COALESCE(host, ''), COALESCE(pid, -1), out_of_memory_id, site
    ) AS x
) AS h
    ON h.job = o.job AND h.run = o.run AND h.of_host = o.of_host AND h.of_pid = o.of_pid
    AND h.out_of_memory_id = o.out_of_memory_id AND h.place = 1;

DROP VIEW IF EXISTS fleet_imbalance;
CREATE VIEW fleet_imbalance AS
-- Which site makes a run unbalanced, and on which rank: how much more than the mean of all ranks does one hold there at its peak?
SELECT
    s.job AS job,
    s.run AS run,
    s.heap AS heap,
    s.site AS site,
    r.rank_count AS rank_count,
    s.row_count AS holding_count,
    s.most_bytes AS most_bytes,
    999999 - s.most_code % 1000000 AS most_rank,
    1.0 * s.sum_bytes / r.rank_count AS mean_bytes,
    s.most_bytes - 1.0 * s.sum_bytes / r.rank_count AS excess_bytes
FROM (
    SELECT
        job,
        run,
        heap,
        site,
        COUNT(*) AS row_count,
        SUM(live_bytes) AS sum_bytes,
        MAX(live_bytes) AS most_bytes,
        MAX(live_bytes * 1000000 + 999999 - rank) AS most_code
    FROM peak_site
    WHERE rank IS NOT NULL
    GROUP BY job, run, heap, site
) AS s
JOIN fleet_run AS r ON r.job = s.job AND r.run = s.run
WHERE r.rank_count > 1;

DROP VIEW IF EXISTS fleet_measure;
CREATE VIEW fleet_measure AS
-- What runs are compared by, a row a run and measure; of the measure 'site' what a rank on average held of that site at its peak.
SELECT job, run, 'peak bytes' AS measure, '' AS site, 1.0 * most_bytes AS value
FROM fleet_run
UNION ALL
SELECT job, run, 'leaked bytes' AS measure, '' AS site, 1.0 * leaked_bytes AS value
FROM fleet_run
UNION ALL
SELECT job, run, 'failed ranks' AS measure, '' AS site, 1.0 * failed_count AS value
FROM fleet_run
UNION ALL
SELECT
    h.job AS job,
    h.run AS run,
    'hit rate' AS measure,
    '' AS site,
    CASE WHEN h.request_count > 0 THEN 1.0 * h.hits / h.request_count END AS value
FROM (
    SELECT job, run, SUM(allocation_count) AS request_count, SUM(hit_count) AS hits
    FROM hit_rate
    WHERE bucket = 'all'
    GROUP BY job, run
) AS h
UNION ALL
SELECT s.job AS job, s.run AS run, 'site' AS measure, s.place AS site, 1.0 * s.sum_bytes / r.rank_count AS value
FROM (
    SELECT job, run, COALESCE(site, '(none)') AS place, SUM(live_bytes) AS sum_bytes
    FROM peak_site
    WHERE rank IS NOT NULL
    GROUP BY job, run, COALESCE(site, '(none)')
) AS s
JOIN fleet_run AS r ON r.job = s.job AND r.run = s.run
WHERE r.rank_count > 0;

DROP VIEW IF EXISTS fleet_regression;
CREATE VIEW fleet_regression AS
-- What got worse against the run before? Bytes by more than 5 %, a hit rate by more than 0.01, failed ranks by one; a site where it
-- is more than a MiB.
SELECT
    c.job AS job,
    c.run AS run,
    c.start_ns AS start_ns,
    c.previous_run AS previous_run,
    c.measure AS measure,
    c.site AS site,
    c.previous_value AS previous_value,
    c.value AS value
FROM (
    SELECT
        m.job AS job,
        m.run AS run,
        r.start_ns AS start_ns,
        r.previous_run AS previous_run,
        m.measure AS measure,
        m.site AS site,
        m.value AS value,
        LEAD(m.run, 1, '') OVER (PARTITION BY m.job, m.measure, m.site ORDER BY r.start_ns DESC, m.run DESC) AS compared_run,
        LEAD(m.value, 1, -1.0) OVER (PARTITION BY m.job, m.measure, m.site ORDER BY r.start_ns DESC, m.run DESC) AS previous_value
    FROM fleet_measure AS m
    JOIN fleet_run AS r ON r.job = m.job AND r.run = m.run
) AS c
WHERE c.compared_run <> ''
    AND c.compared_run = c.previous_run
    AND (
        (c.measure IN ('peak bytes', 'leaked bytes') AND c.value > c.previous_value * 1.05)
        OR (c.measure = 'failed ranks' AND c.value > c.previous_value)
        OR (c.measure = 'hit rate' AND c.value < c.previous_value - 0.01)
        OR (c.measure = 'site' AND c.value > c.previous_value * 1.05 AND c.value > 1048576)
    );

DROP VIEW IF EXISTS fleet_new_site;
CREATE VIEW fleet_new_site AS
-- Which sites are at the peak of a run, and were at none in the run before?
SELECT c.job AS job, c.run AS run, c.start_ns AS start_ns, c.previous_run AS previous_run, c.site AS site, c.value AS mean_bytes
FROM (
    SELECT
        m.job AS job,
        m.run AS run,
        r.start_ns AS start_ns,
        r.previous_run AS previous_run,
        m.site AS site,
        m.value AS value,
        LEAD(m.run, 1, '') OVER (PARTITION BY m.job, m.site ORDER BY r.start_ns DESC, m.run DESC) AS compared_run
    FROM fleet_measure AS m
    JOIN fleet_run AS r ON r.job = m.job AND r.run = m.run
    WHERE m.measure = 'site'
) AS c
WHERE c.previous_run <> '' AND c.compared_run <> c.previous_run;

DROP VIEW IF EXISTS fleet_hit_rate;
CREATE VIEW fleet_hit_rate AS
-- How often did pools serve a request by themselves, week by week? A week begins as 1970 did, on a Thursday.
SELECT
    h.job AS job,
    h.week_ns AS week_ns,
    h.bucket AS bucket,
    h.run_count AS run_count,
    h.request_count AS request_count,
    CASE WHEN h.request_count > 0 THEN 1.0 * h.hits / h.request_count END AS hit_ratio
FROM (
    SELECT
        job,
        COALESCE(run_start_ns, 0) - COALESCE(run_start_ns, 0) % 604800000000000 AS week_ns,
        bucket,
        COUNT(DISTINCT run) AS run_count,
        SUM(allocation_count) AS request_count,
        SUM(hit_count) AS hits
    FROM hit_rate
    GROUP BY job, COALESCE(run_start_ns, 0) - COALESCE(run_start_ns, 0) % 604800000000000, bucket
) AS h;

DROP VIEW IF EXISTS fleet_idle;
CREATE VIEW fleet_idle AS
-- How many bytes do pools keep for nothing: what they held when most was live, beyond that?
SELECT
    p.job AS job,
    p.run AS run,
    p.heap AS heap,
    p.pool_count AS pool_count,
    p.held_bytes AS held_bytes,
    p.unused_bytes AS unused_bytes,
    CASE WHEN p.held_bytes > 0 THEN 1.0 * p.unused_bytes / p.held_bytes END AS unused_ratio,
    p.most_unused_bytes AS most_unused_bytes,
    999999 - p.most_code % 1000000 AS most_rank
FROM (
    SELECT
        job,
        run,
        heap,
        COUNT(*) AS pool_count,
        SUM(reserved_at_peak_bytes) AS held_bytes,
        SUM(reserved_at_peak_bytes - peak_bytes) AS unused_bytes,
        MAX(reserved_at_peak_bytes - peak_bytes) AS most_unused_bytes,
        MAX((reserved_at_peak_bytes - peak_bytes) * 1000000 + 999999 - rank) AS most_code
    FROM peak
    WHERE level = 'pool' AND reserved_at_peak_bytes IS NOT NULL
    GROUP BY job, run, heap
) AS p;

DROP VIEW IF EXISTS fleet_setting;
CREATE VIEW fleet_setting AS
-- Does it follow a version or a setting? Of all that differs between the runs of a job, or within one, but for what only says which
-- rank, device or run it is: how the runs with it went.
SELECT
    e.job AS job,
    e.source AS source,
    e.name AS name,
    e.setting AS value,
    COUNT(*) AS run_count,
    SUM(CASE WHEN r.failed_count > 0 THEN 1 ELSE 0 END) AS failed_run_count,
    SUM(CASE WHEN r.leaked_bytes > 0 THEN 1 ELSE 0 END) AS leaking_run_count,
    MAX(r.most_bytes) AS highest_bytes,
    MIN(r.most_bytes) AS lowest_bytes
FROM (
    SELECT job, run, source, name, COALESCE(value, '') AS setting
    FROM environment
    GROUP BY job, run, source, name, COALESCE(value, '')
) AS e
JOIN fleet_run AS r ON r.job = e.job AND r.run = e.run
JOIN (
    SELECT job, source, name, COUNT(DISTINCT COALESCE(value, '')) AS value_count
    FROM environment
    WHERE name NOT IN (
        'RANK', 'LOCAL_RANK', 'RANK_ID', 'PMI_RANK', 'SLURM_PROCID', 'SLURM_LOCALID', 'SLURM_JOB_ID', 'TORCHELASTIC_RUN_ID',
        'OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_LOCAL_RANK', 'OMPI_COMM_WORLD_NODE_RANK', 'ASCEND_RT_VISIBLE_DEVICES',
        'CUDA_VISIBLE_DEVICES'
    )
    GROUP BY job, source, name
) AS n
    ON n.job = e.job AND n.source = e.source AND n.name = e.name
WHERE n.value_count > 1
GROUP BY e.job, e.source, e.name, e.setting;

DROP VIEW IF EXISTS fleet_host;
CREATE VIEW fleet_host AS
-- Does one host fail more? Of each host, over all jobs and runs, beside the share of all.
SELECT
    h.machine AS host,
    h.rank_run_count AS rank_run_count,
    h.failed_count AS failed_count,
    h.out_of_memory_count AS out_of_memory_count,
    1.0 * h.failed_count / h.rank_run_count AS failed_ratio,
    1.0 * a.failed_count / a.rank_run_count AS failed_ratio_of_all
FROM (
    SELECT
        COALESCE(host, '(not known)') AS machine,
        COUNT(*) AS rank_run_count,
        SUM(CASE WHEN failure IS NOT NULL THEN 1 ELSE 0 END) AS failed_count,
        SUM(CASE WHEN failure = 'out of memory' THEN 1 ELSE 0 END) AS out_of_memory_count
    FROM rank
    GROUP BY COALESCE(host, '(not known)')
) AS h
CROSS JOIN (
    SELECT COUNT(*) AS rank_run_count, SUM(CASE WHEN failure IS NOT NULL THEN 1 ELSE 0 END) AS failed_count
    FROM rank
) AS a;

DROP VIEW IF EXISTS fleet_missing;
CREATE VIEW fleet_missing AS
-- Which ranks of a run are not here? Each gap among those that are, as the ranks were told how many there are.
SELECT g.job AS job, g.run AS run, g.world_count AS world_count, g.first_missing AS first_missing, g.last_missing AS last_missing
FROM (
    SELECT
        k.job AS job,
        k.run AS run,
        r.world_count AS world_count,
        k.rank + 1 AS first_missing,
        CASE WHEN k.next_rank < 0 THEN r.world_count - 1 ELSE k.next_rank - 1 END AS last_missing
    FROM (
        SELECT
            d.job AS job,
            d.run AS run,
            d.rank AS rank,
            LEAD(d.rank, 1, -1) OVER (PARTITION BY d.job, d.run ORDER BY d.rank) AS next_rank
        FROM (SELECT job, run, rank FROM rank WHERE rank IS NOT NULL GROUP BY job, run, rank) AS d
    ) AS k
    JOIN fleet_run AS r ON r.job = k.job AND r.run = k.run
    UNION ALL
    SELECT f.job AS job, f.run AS run, f.world_count AS world_count, 0 AS first_missing, f.lowest - 1 AS last_missing
    FROM (SELECT job, run, MAX(world_size) AS world_count, MIN(rank) AS lowest FROM rank GROUP BY job, run) AS f
) AS g
WHERE g.world_count IS NOT NULL AND g.last_missing >= g.first_missing;

DROP VIEW IF EXISTS fleet_trust;
CREATE VIEW fleet_trust AS
-- Which answers rest on whole recordings? Of each run, how many of its recordings are how complete, and what of them was lost.
SELECT
    c.job AS job,
    c.run AS run,
    c.state AS verdict,
    c.input_count AS input_count,
    c.seen_count AS seen_count,
    c.lost_count AS lost_count,
    CASE WHEN c.seen_count > 0 THEN 1.0 * c.lost_count / c.seen_count END AS lost_ratio
FROM (
    SELECT
        job,
        run,
        COALESCE(verdict, '(none)') AS state,
        COUNT(*) AS input_count,
        SUM(events_seen) AS seen_count,
        SUM(COALESCE(events_dropped, 0) + COALESCE(events_damaged, 0) + COALESCE(events_unrecovered, 0)) AS lost_count
    FROM completeness
    GROUP BY job, run, COALESCE(verdict, '(none)')
) AS c;

DROP VIEW IF EXISTS fleet_growth;
CREATE VIEW fleet_growth AS
-- What grows without end, and on how many ranks: leaks and suspects, the host's memory, caches.
SELECT
    f.job AS job,
    f.run AS run,
    f.kind AS kind,
    f.place AS place,
    f.rank_count AS rank_count,
    f.sum_bytes AS sum_bytes,
    f.most_bytes AS most_bytes,
    999999 - f.most_code % 1000000 AS most_rank
FROM (
    SELECT
        job,
        run,
        kind,
        COALESCE(site, heap, '') AS place,
        COUNT(DISTINCT rank) AS rank_count,
        SUM(bytes) AS sum_bytes,
        MAX(bytes) AS most_bytes,
        MAX(bytes * 1000000 + 999999 - rank) AS most_code
    FROM finding
    WHERE kind IN ('leak', 'suspect', 'host growth', 'cache growth') AND severity IN ('fault', 'warning', 'minor')
    GROUP BY job, run, kind, COALESCE(site, heap, '')
) AS f;
