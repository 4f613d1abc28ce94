-- against_heaps.sql: heaps of the other run, with their peaks.
SELECT
    p.host AS host,
    p.rank AS rank,
    p.pid AS pid,
    p.device AS device,
    p.heap AS heap,
    p.level AS level,
    p.heap_id AS heap_id,
    p.process_id AS process_id,
    p.input_id AS input_id,
    s.peak_bytes AS peak_bytes,
    s.peak_seq AS peak_seq
FROM z_heap_place AS p
LEFT JOIN z_heap_sum AS s ON s.heap_id = p.heap_id
ORDER BY p.heap_id
LIMIT 16384;
