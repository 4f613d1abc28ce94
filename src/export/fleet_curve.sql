-- fleet_curve.sql: view timeline with :point_count rows of each heap, or a few more: of as many neighbours the one in which most was live.
WITH numbered AS (
    SELECT
        usage.heap_id,
        usage.last_seq,
        usage.last_ns,
        usage.live_bytes,
        usage.max_live_bytes,
        usage.reserved_bytes,
        usage.live_count,
        usage.max_seq,
        usage.max_ns,
        (row_number() OVER (PARTITION BY usage.heap_id ORDER BY usage.last_seq) - 1)
            / ((count(*) OVER (PARTITION BY usage.heap_id) + :point_count - 1) / :point_count) AS point
    FROM usage
),
ranked AS (
    SELECT
        numbered.*,
        row_number() OVER (
            PARTITION BY numbered.heap_id, numbered.point
            ORDER BY numbered.max_live_bytes DESC, numbered.last_seq
        ) AS place
    FROM numbered
)
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    r.last_ns AS ns,
    r.live_bytes,
    r.max_live_bytes,
    r.reserved_bytes,
    r.live_count,
    r.last_seq,
    r.max_seq,
    r.max_ns
FROM ranked AS r
JOIN z_heap_place AS p ON p.heap_id = r.heap_id
WHERE r.place = 1
ORDER BY r.heap_id, r.last_seq;
