-- hit_rate_over_time.sql: how often did each pool serve a request by itself, over time, by size of the request?
-- Parameters: :parts  parts that the recording is cut into, by events (default 20)
--             :top    rows to return (default 1000)
-- Columns:    heap name, or 'error: ...' where none of the parameters that are set is one of these; part from 0; bucket 'small',
--             'medium' or 'large', by the pool's bounds (4 KiB and 1 MiB unless it was declared with others); first_seq, first_ns
--             the first of the part's requests of that size: its place in the order of events, and when, nanoseconds, NULL where
--             that is not known; allocation_count requests; miss_count of them for which the pool had to grow; hit_rate 0 to 1.
--             Needs the rows of all allocations (input.detail 'all'); view pool_by tells of steps without them
WITH
    span (first_seq, last_seq, part_count) AS (
        SELECT min(input.first_seq), max(input.last_seq), max(1, coalesce(:parts, 20)) FROM input
    ),
    request (heap_id, part, bucket, alloc_seq, alloc_ns, is_miss) AS (
        SELECT
            a.heap_id,
            (a.alloc_seq - span.first_seq) * span.part_count / (span.last_seq - span.first_seq + 1),
            CASE
                WHEN coalesce(a.requested_bytes, a.size_bytes) < heap.small_bytes THEN 'small'
                WHEN coalesce(a.requested_bytes, a.size_bytes) > heap.large_bytes THEN 'large'
                ELSE 'medium'
            END,
            a.alloc_seq,
            a.alloc_ns,
            a.is_miss
        FROM allocation AS a
        JOIN heap ON heap.heap_id = a.heap_id
        CROSS JOIN span
        WHERE a.is_miss IS NOT NULL AND a.alloc_seq IS NOT NULL
    ),
    by_part (heap_id, part, bucket, first_seq, first_ns, allocation_count, miss_count) AS (
        SELECT
            q.heap_id,
            q.part,
            q.bucket,
            min(q.alloc_seq),
            min(q.alloc_ns),
            count(*),
            sum(q.is_miss)
        FROM request AS q
        GROUP BY q.heap_id, q.part, q.bucket
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
        g.bucket,
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
