-- whatif_heaps.sql: heaps.
SELECT
    heap_id,
    process_id,
    device_id,
    level AS level_code,
    name
FROM heap;
