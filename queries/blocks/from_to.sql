asked (place, moment) AS (
    SELECT 1, CAST(coalesce(:from, 'begin') AS TEXT)
    UNION ALL SELECT 2, CAST(coalesce(:to, 'end') AS TEXT)
),
-- begin point
-- DISTINCT, CROSS and the + keep SQLite from an index of its own over all allocations: one pass over them is enough.
span (heap_id, from_seq, from_ns, to_seq, to_ns) AS (
    SELECT DISTINCT
        b.heap_id,
        b.seq,
        b.ns,
        e.seq,
        e.ns
    FROM point AS b
    JOIN point AS e ON e.heap_id = b.heap_id AND e.place = 2 AND coalesce(e.seq, e.ns) IS NOT NULL
    WHERE b.place = 1 AND coalesce(b.seq, b.ns) IS NOT NULL
),
