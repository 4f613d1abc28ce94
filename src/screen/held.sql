-- held.sql: what held the device where a request failed, the largest first; pools say what of them is in use and what is free.
SELECT
    c.component AS component,
    c.heap AS heap,
    c.bytes AS bytes,
    c.active_bytes AS active_bytes,
    c.free_bytes AS free_bytes
FROM out_of_memory AS o
JOIN z_out_of_memory_component AS c ON c.out_of_memory_id = o.out_of_memory_id
WHERE o.out_of_memory_id = :case_id
    AND c.component <> 'DEVICE USED'
    AND c.bytes <> 0
    AND abs(c.bytes) * 200 >= o.own_bytes + coalesce(o.other_bytes, 0)
ORDER BY c.bytes DESC, c.component, c.heap
LIMIT :most_count;
