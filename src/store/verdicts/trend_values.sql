-- trend_values.sql: what each heap held in each step, by process, device and heap.
SELECT
    heap.process_id AS process_id,
    heap.device_id AS device_id,
    coalesce(device.capacity_bytes, 0) AS capacity_bytes,
    t.heap_id AS heap_id,
    heap.level AS level_code,
    t.generation AS generation,
    t.last_generation AS last_generation,
    t.peak_bytes AS peak_bytes,
    t.live_bytes AS live_bytes,
    t.peak_reserved_bytes AS peak_reserved_bytes,
    t.number AS number,
    t.begin_ns AS begin_ns,
    t.graph_bytes AS graph_bytes,
    t.graph_reserved_bytes AS graph_reserved_bytes
FROM z_step_sum AS t
JOIN heap ON heap.heap_id = t.heap_id
JOIN device ON device.device_id = heap.device_id
JOIN process ON process.process_id = heap.process_id
ORDER BY heap.process_id, heap.device_id, t.heap_id, t.generation;
