-- device_parts.sql: what a device was made of at a moment: what several processes say adds up, but for what each says
-- of the same whole; then what others had, and what is not explained.
WITH
    c AS (
        SELECT component, heap, bytes
        FROM device_memory
        WHERE moment_id = :moment_id AND host IS :host AND device IS :device
    ),
    own AS (
        SELECT
            component,
            CASE WHEN component IN ('POOL', 'WORKSPACE') THEN heap END AS heap,
            sum(bytes) AS bytes
        FROM c
        WHERE component NOT IN ('RECORDED PROCESSES', 'OTHER PROCESSES', 'UNEXPLAINED', 'DEVICE USED')
        GROUP BY 1, 2
    ),
    other AS (SELECT coalesce(max(bytes), 0) AS bytes FROM c WHERE component = 'OTHER PROCESSES')
SELECT
    component,
    heap,
    bytes
FROM (
    SELECT component, heap, bytes, 0 AS place
    FROM own
    UNION ALL
    SELECT 'OTHER PROCESSES', NULL, bytes, 1
    FROM other
    UNION ALL
    SELECT 'UNEXPLAINED', NULL, :used_bytes - (SELECT sum(bytes) FROM own) - (SELECT bytes FROM other), 2
)
WHERE abs(bytes) > :used_bytes / 100
ORDER BY place, bytes DESC, component, heap
LIMIT :most_count;
