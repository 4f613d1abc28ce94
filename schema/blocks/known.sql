-- Where to look for what was live at the moments of $1 (table z_birth_part), and the rows there.
near (heap_id, first_id, last_id) AS (
    SELECT DISTINCT
        y.heap_id,
        y.first_id,
        y.last_id
    FROM $1 AS x
    CROSS JOIN z_birth_part AS y ON y.heap_id = x.heap_id
    WHERE coalesce(x.seq, x.ns) IS NOT NULL
        AND CASE
            WHEN x.seq IS NULL THEN coalesce(y.first_ns <= x.ns, 1) AND coalesce(y.end_ns > x.ns, 1)
            ELSE coalesce(y.first_seq <= x.seq, 1) AND coalesce(y.end_seq > x.seq, 1)
        END
),
known (allocation_id) AS (
    SELECT DISTINCT there.allocation_id
    FROM near AS x
    CROSS JOIN allocation AS there ON there.allocation_id BETWEEN x.first_id AND x.last_id AND +there.heap_id = x.heap_id
),
