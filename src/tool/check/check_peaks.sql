-- check_peaks.sql: all driver memory of a device; where none is known, each of its pools. With a filter, each heap
-- by itself. limit_value, NULL: the rule's own.
SELECT
    host,
    rank,
    pid,
    device,
    heap,
    level,
    peak_bytes AS measured_value,
    NULL AS limit_value,
    NULL AS note
FROM device_peak
WHERE :rank IS NULL AND :heap IS NULL AND peak_bytes > 0
UNION ALL
SELECT k.host, k.rank, k.pid, k.device, k.heap, k.level, k.peak_bytes, NULL, NULL
FROM peak AS k
WHERE CASE
    WHEN :rank IS NULL AND :heap IS NULL THEN k.level = 'pool' AND k.device IS NOT NULL AND NOT EXISTS (
        SELECT 1
        FROM device_peak AS d
        WHERE d.host IS k.host AND d.device IS k.device AND d.peak_bytes > 0
    )
    ELSE (:rank IS NULL OR k.rank IS :rank)
        AND (:heap IS NULL OR k.heap IS :heap OR k.level IS :heap)
        AND (:heap IS NOT NULL OR (k.device IS NOT NULL AND k.level IN ('driver', 'pool')))
END;
