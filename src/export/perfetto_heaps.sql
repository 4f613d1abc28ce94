-- perfetto_heaps.sql: heaps whose use over time is known, with the names of their tracks.
-- With: live_places.part.sql
SELECT
    h.heap_id AS heap_id,
    h.process_id AS process_id,
    p.text || ' live' AS live_name,
    p.text || ' reserved' AS reserved_name,
    EXISTS (
        SELECT 1
        FROM usage AS u
        WHERE u.heap_id = h.heap_id AND u.reserved_bytes IS NOT NULL
    ) AS is_reserved
FROM heap AS h
JOIN place AS p ON p.heap_id = h.heap_id
WHERE EXISTS (SELECT 1 FROM usage AS u WHERE u.heap_id = h.heap_id)
ORDER BY h.heap_id;
