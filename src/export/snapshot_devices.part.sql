-- snapshot_devices.part.sql: dev: devices with their numbers in a snapshot; own: their heaps, with the device's number,
-- and the start of the recording, nanoseconds since 1970. Driver memory that an input tells as a sum alone holds no blocks.
used (device_id, process_id, ordinal) AS (
    SELECT device_id, process_id, ordinal
    FROM device
    WHERE EXISTS (SELECT 1 FROM heap WHERE heap.device_id = device.device_id AND heap.level IN (1, 2, 3))
),
dev (device_id, process_id, number) AS (
    SELECT
        device_id,
        process_id,
        CASE
            WHEN (
                SELECT
                    count(DISTINCT process_id) = 1
                    AND count(*) = count(DISTINCT ordinal)
                    AND min(ordinal) >= 0
                    AND max(ordinal) < 4096
                FROM used
            )
                THEN ordinal
            ELSE row_number() OVER (ORDER BY device_id) - 1
        END
    FROM used
),
own (heap_id, number, level, start_ns) AS (
    SELECT h.heap_id, dev.number, h.level, coalesce(i.start_realtime_ns, 0)
    FROM heap AS h
    JOIN dev ON dev.device_id = h.device_id
    JOIN process AS p ON p.process_id = h.process_id
    JOIN input AS i ON i.input_id = p.input_id
    WHERE h.level IN (2, 3) OR (h.level = 1 AND i.fragmentation_basis IN ('exact', 'estimate'))
)
