-- live_places.part.sql: place: each heap, and all that tells it from others in words.
place (heap_id, rank, pid, device, heap, level, text) AS (
    SELECT
        heap_id,
        rank,
        pid,
        device,
        heap,
        level,
        words || CASE
            WHEN count(*) OVER (PARTITION BY words) > 1
                THEN coalesce(', ' || host, '') || coalesce(', pid ' || pid, '') || ', heap ' || heap_id
            ELSE ''
        END
    FROM (
        SELECT
            p.heap_id,
            p.host,
            p.rank,
            p.pid,
            p.device,
            p.heap,
            p.level,
            coalesce('rank ' || p.rank || ', ', 'pid ' || p.pid || ', ', '')
                || coalesce(
                    -- begin device_name d.kind; p.device
                    coalesce(nullif(upper(d.kind), 'DEVICE'), 'device') || ' ' || p.device
                    -- end device_name
                    || ', ', ''
                )
                || coalesce(p.heap, p.level, 'heap') AS words
        FROM z_heap_place AS p
        LEFT JOIN device AS d ON d.device_id = p.device_id
    )
)
