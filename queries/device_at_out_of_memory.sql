-- device_at_out_of_memory.sql: what was the device full of when memory ran out, component by component, in GiB?
-- Parameters: :outcome 'fatal' or 'recovered' (default: both)
-- Columns:    out_of_memory_id number of the case; verdict one word; wanted_gib what was asked for at least, GiB, NULL
--             where not known; total_gib all memory of the device and free_gib what it had left, GiB, NULL where it did
--             not say; component and part as in view device_part; heap name of the pool or NULL; gib its size, GiB; share_ratio that
--             over what the device said is in use, NULL where it did not; is_estimate 1: not certain
SELECT
    o.out_of_memory_id AS out_of_memory_id,
    o.verdict AS verdict,
    coalesce(o.tried_bytes, o.at_least_tried_bytes) / 1073741824.0 AS wanted_gib,
    o.total_bytes / 1073741824.0 AS total_gib,
    o.free_bytes / 1073741824.0 AS free_gib,
    c.component AS component,
    c.part AS part,
    c.heap AS heap,
    c.bytes / 1073741824.0 AS gib,
    CASE
        WHEN o.total_bytes > o.free_bytes THEN CAST(c.bytes AS REAL) / (o.total_bytes - o.free_bytes)
    END AS share_ratio,
    c.is_estimate AS is_estimate
FROM out_of_memory AS o
JOIN z_out_of_memory_component AS c ON c.out_of_memory_id = o.out_of_memory_id
WHERE c.component <> 'DEVICE USED' AND (:outcome IS NULL OR o.outcome = :outcome)
ORDER BY o.out_of_memory_id, c.bytes DESC, c.component, c.heap, c.part
-- begin guard :outcome; -1
LIMIT CASE
    WHEN :outcome IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
