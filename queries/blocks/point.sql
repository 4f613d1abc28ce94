point (heap_id, place, seq, ns, moment_ns) AS (
    SELECT
        h.heap_id,
        q.place,
        coalesce(
            n.seq,
            CASE
                WHEN 'seq:' || CAST(substr(q.moment, 5) AS INTEGER) = q.moment
                    THEN CAST(substr(q.moment, 5) AS INTEGER)
            END
        ),
        CASE WHEN CAST(CAST(q.moment AS INTEGER) AS TEXT) = q.moment THEN CAST(q.moment AS INTEGER) END,
        n.ns
    FROM asked AS q
    CROSS JOIN heap AS h
    LEFT JOIN z_named_moment AS n ON n.heap_id = h.heap_id AND n.moment = q.moment
),
