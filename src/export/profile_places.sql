-- profile_places.sql: the process of a heap, by the number of perfetto_processes.sql, and the heap's name.
-- With: live_places.part.sql
SELECT
    CASE
        WHEN process.pid BETWEEN 1 AND 1000000000
            AND (SELECT count(*) FROM process AS other WHERE other.pid = process.pid) = 1
            THEN process.pid
        ELSE 1000000000 + process.process_id
    END AS pid,
    place.text AS name
FROM place
JOIN heap ON heap.heap_id = place.heap_id
JOIN process ON process.process_id = heap.process_id
WHERE place.heap_id = :heap_id;
