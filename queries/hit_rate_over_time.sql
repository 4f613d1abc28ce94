-- hit_rate_over_time.sql: how often did each pool serve a request by itself, over time, by size of the request?
-- Parameters: :parts  parts that the recording is cut into, by events (default 20)
--             :top    rows to return (default 1000)
-- Columns:    heap name, or 'error: ...' where none of the parameters that are set is one of these; part from 0; bucket 'small',
--             'medium' or 'large', by the pool's bounds (4 KiB and 1 MiB unless it was declared with others); first_seq, first_ns
--             the first of the part's requests of that size: its place in the order of events, and when, nanoseconds, NULL where
--             that is not known; allocation_count requests; miss_count of them for which the pool had to grow; hit_rate 0 to 1.
--             Parts are made of whole runs of events, of which a recording has 512 or more
WITH
    span (first_seq, last_seq, part_count) AS (
        SELECT min(input.first_seq), max(input.last_seq), max(1, coalesce(:parts, 20)) FROM input
    ),
    -- Parts of 2^n events, of which each counts for that in which it begins.
    by_part (heap_id, part, bucket, first_seq, first_ns, allocation_count, miss_count) AS (
        SELECT
            h.heap_id,
            (max(h.begin_seq, span.first_seq) - span.first_seq) * span.part_count / (span.last_seq - span.first_seq + 1) AS part,
            h.bucket,
            min(h.first_seq),
            min(h.first_ns),
            sum(h.allocation_count),
            sum(h.miss_count)
        FROM z_hit_part AS h
        CROSS JOIN span
        GROUP BY h.heap_id, part, h.bucket
    ),
    fault (text) AS (
        -- begin no_parameter :parts or :top; :parts, :top
        SELECT 'error: parameters are set, but none of them is :parts or :top'
        WHERE coalesce(:parts, :top) IS NULL
            AND EXISTS (SELECT 1 FROM sqlite_temp_master AS m WHERE m.name = 'sqlite_parameters')
        -- end no_parameter
    )
SELECT
    r.heap AS heap,
    r.part AS part,
    r.bucket AS bucket,
    r.first_seq AS first_seq,
    r.first_ns AS first_ns,
    r.allocation_count AS allocation_count,
    r.miss_count AS miss_count,
    r.hit_rate AS hit_rate
FROM (
    SELECT
        t.text AS heap,
        NULL AS part,
        NULL AS bucket,
        NULL AS first_seq,
        NULL AS first_ns,
        NULL AS allocation_count,
        NULL AS miss_count,
        NULL AS hit_rate,
        NULL AS heap_id
    FROM fault AS t
    UNION ALL
    SELECT
        p.heap,
        g.part,
        CASE g.bucket WHEN 0 THEN 'small' WHEN 1 THEN 'medium' ELSE 'large' END,
        g.first_seq,
        g.first_ns,
        g.allocation_count,
        g.miss_count,
        1.0 - CAST(g.miss_count AS REAL) / g.allocation_count,
        g.heap_id
    FROM by_part AS g
    JOIN z_heap_place AS p ON p.heap_id = g.heap_id
    WHERE NOT EXISTS (SELECT 1 FROM fault)
) AS r
ORDER BY r.heap_id, r.part, r.bucket = 'large', r.bucket = 'medium'
LIMIT coalesce(:top, 1000);
