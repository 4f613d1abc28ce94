-- profile_spans.sql: where a moment lies in each heap, by seq or else by time, and when that was. Of live.part.sql the first
-- table alone.
-- With: live.part.sql
SELECT
    span.heap_id AS heap_id,
    span.seq AS seq,
    span.ns AS ns,
    coalesce(
        (
            SELECT max(coalesce(n.ns, n.seq * 1000, 0), 0)
            FROM z_named_moment AS n
            WHERE n.heap_id = span.heap_id AND n.moment = :moment
        ),
        0
    ) AS shown_ns
FROM span
ORDER BY span.heap_id, span.seq, span.ns;
