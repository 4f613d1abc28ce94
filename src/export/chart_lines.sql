-- chart_lines.sql: the heaps of a chart, the one with the highest peak first.
SELECT
    heap.heap_id AS heap_id,
    coalesce(heap.name, heap_level.name, 'heap') AS name,
    s.peak_bytes AS peak_bytes,
    coalesce(CASE WHEN :has_times THEN s.peak_ns ELSE s.peak_seq END, 0) AS peak_number
FROM heap
JOIN z_heap_sum AS s ON s.heap_id = heap.heap_id
LEFT JOIN heap_level ON heap_level.level = heap.level
WHERE s.peak_bytes > 0 AND CASE
    WHEN :heap_id IS NULL THEN heap.process_id = :process_id AND heap.device_id = :device_id
    ELSE heap.heap_id = :heap_id
END
ORDER BY max(s.peak_bytes, coalesce(s.peak_reserved_bytes, 0)) DESC, heap.level, heap.heap_id;
