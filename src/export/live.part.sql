-- live.part.sql: live: what was live at the moment :moment, by heap and stack. :has_rows: rows of single allocations
-- tell of it, and know streams and categories; else the sums that are kept of peaks do. near, known: where to look for them,
-- as in schema/blocks/known.sql.
span (heap_id, seq, ns) AS (
    SELECT DISTINCT heap_id, seq, ns
    FROM (
        SELECT
            h.heap_id,
            CASE
                WHEN n.moment IS NOT NULL THEN n.seq
                WHEN :moment GLOB 'seq:*' THEN CAST(substr(:moment, 5) AS INTEGER)
            END AS seq,
            CASE
                WHEN n.moment IS NULL AND :moment NOT GLOB '*[^0-9]*' THEN CAST(:moment AS INTEGER)
            END AS ns
        FROM heap AS h
        LEFT JOIN z_named_moment AS n ON n.heap_id = h.heap_id AND n.moment = :moment
    )
    WHERE coalesce(seq, ns) IS NOT NULL
),
near (heap_id, first_id, last_id) AS (
    SELECT DISTINCT
        y.heap_id,
        y.first_id,
        y.last_id
    FROM span AS x
    CROSS JOIN z_birth_part AS y ON y.heap_id = x.heap_id
    WHERE :has_rows AND CASE
        WHEN x.seq IS NULL THEN coalesce(y.first_ns <= x.ns, 1) AND coalesce(y.end_ns > x.ns, 1)
        ELSE coalesce(y.first_seq <= x.seq, 1) AND coalesce(y.end_seq > x.seq, 1)
    END
),
known (allocation_id) AS (
    SELECT DISTINCT there.allocation_id
    FROM near AS x
    CROSS JOIN allocation AS there ON there.allocation_id BETWEEN x.first_id AND x.last_id AND +there.heap_id = x.heap_id
),
live (heap_id, stack_id, is_baseline, stream, category_id, live_count, live_bytes) AS (
    SELECT heap_id, stack_id, is_baseline, NULL, NULL, sum(live_count), sum(live_bytes)
    FROM z_peak_stack
    WHERE NOT :has_rows
    GROUP BY heap_id, stack_id, is_baseline
    UNION ALL
    SELECT
        a.heap_id,
        a.stack_id,
        a.alloc_seq IS NULL AND a.stack_id IS NULL,
        a.stream,
        a.category_id,
        count(*),
        sum(a.size_bytes)
    FROM known AS k
    CROSS JOIN allocation AS a ON a.allocation_id = k.allocation_id
    CROSS JOIN span AS s ON s.heap_id = a.heap_id
    WHERE :has_rows
        AND (a.alloc_seq IS NULL OR CASE WHEN s.seq IS NULL THEN a.alloc_ns <= s.ns ELSE a.alloc_seq <= s.seq END)
        AND (a.end_kind = 0 OR CASE WHEN s.seq IS NULL THEN a.free_ns > s.ns ELSE a.free_seq > s.seq END)
    GROUP BY 1, 2, 3, 4, 5
)
