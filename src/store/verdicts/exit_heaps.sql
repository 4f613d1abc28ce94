-- exit_heaps.sql: driver, pinned and registered memory of processes that ended by themselves: leaks.sql asks how others of a stack ended.
SELECT h.heap_id AS heap_id
FROM heap AS h
JOIN process AS p ON p.process_id = h.process_id
WHERE h.level IN (1, 4, 7) AND p.end_kind = 'exit'
ORDER BY h.heap_id;
