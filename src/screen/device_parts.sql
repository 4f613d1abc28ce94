-- device_parts.sql: what a device was made of at a moment, the largest parts and the rest: what several processes say adds up, but for
-- what each says of the same whole; then what others had, and what is not explained. What a pool has just got is as good as used.
WITH
    c AS (
        SELECT component, heap, part, bytes
        FROM device_part
        WHERE moment_id = :moment_id AND host IS :host AND device IS :device
    ),
    own AS (
        SELECT
            component,
            CASE WHEN component IN ('POOL', 'WORKSPACE') THEN heap END AS heap,
            CASE part WHEN 'new' THEN 'used' ELSE part END AS part,
            sum(bytes) AS bytes
        FROM c
        WHERE component NOT IN ('RECORDED PROCESSES', 'OTHER PROCESSES', 'UNEXPLAINED', 'DEVICE USED')
        GROUP BY 1, 2, 3
    ),
    other AS (SELECT coalesce(max(bytes), 0) AS bytes FROM c WHERE component = 'OTHER PROCESSES'),
    every AS (
        SELECT component, heap, part, bytes FROM own
        UNION ALL
        SELECT 'OTHER PROCESSES', NULL, 'whole', bytes FROM other
        UNION ALL
        SELECT 'UNEXPLAINED', NULL, 'whole', :used_bytes - (SELECT coalesce(sum(bytes), 0) FROM own) - (SELECT bytes FROM other)
    ),
    -- A rest of one part is that part.
    largest AS (
        SELECT
            component,
            heap,
            part,
            bytes,
            row_number() OVER (ORDER BY abs(bytes) DESC, component, heap, part) AS place,
            count(*) OVER () > :most_count + 1 AS has_rest
        FROM every
        WHERE abs(bytes) > :used_bytes / 100
    )
SELECT
    component,
    heap,
    part,
    bytes
FROM (
    SELECT component, heap, part, bytes, place
    FROM largest
    WHERE place <= :most_count OR NOT has_rest
    UNION ALL
    SELECT 'REST', NULL, 'whole', sum(bytes), NULL
    FROM largest
    WHERE place > :most_count AND has_rest
)
WHERE bytes <> 0
ORDER BY place IS NULL, bytes < 0, place;
