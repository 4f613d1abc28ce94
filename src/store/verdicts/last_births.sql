-- last_births.sql: of each heap the last birth on its device, of any heap there.
SELECT
    own.heap_id AS heap_id,
    max(t.last_alloc_seq) AS last_alloc_seq
FROM heap AS own
JOIN heap AS h ON h.process_id = own.process_id AND (h.heap_id = own.heap_id OR h.device_id = own.device_id)
JOIN z_heap_sum AS t ON t.heap_id = h.heap_id
GROUP BY own.heap_id
HAVING max(t.last_alloc_seq) IS NOT NULL
ORDER BY own.heap_id;
