-- picture_heaps.sql: heaps, each with the first and last event of its input: so pictures of one input lie below each
-- other.
SELECT
    h.heap_id AS heap_id,
    t.first_seq AS first_seq,
    t.last_seq AS last_seq
FROM z_heap_place AS h
JOIN (
    SELECT p.input_id, min(u.first_seq) AS first_seq, max(u.last_seq) AS last_seq
    FROM usage AS u
    JOIN z_heap_place AS p ON p.heap_id = u.heap_id
    GROUP BY p.input_id
) AS t ON t.input_id = h.input_id
WHERE t.last_seq > t.first_seq
ORDER BY h.heap_id;
