-- rising_loads.sql: what a heap held, over time, and the most of it.
SELECT
    max_live_bytes,
    live_bytes,
    (SELECT max(max_live_bytes) FROM usage WHERE heap_id = :heap_id) AS peak_bytes
FROM usage
WHERE heap_id = :heap_id
ORDER BY last_seq;
