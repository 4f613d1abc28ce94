-- snapshot_heaps.sql: heaps of a snapshot, with the numbers of their devices.
-- With: snapshot_devices.part.sql
SELECT
    heap_id,
    number AS device,
    level AS level_code,
    start_ns
FROM own;
