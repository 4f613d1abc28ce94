-- wrappers.sql: a compiled function that looks like an allocator of the program's own and is the site of at least half of a heap's peak:
-- its callers are not told apart. Of several the one with the largest share.
SELECT
    w.function AS function,
    h.heap AS heap,
    (
        SELECT
            CAST(sum(CASE
                WHEN f.function GLOB w.function AND coalesce(f.file, '') NOT GLOB '*.py' THEN k.live_bytes
                ELSE 0
            END) AS REAL) / nullif(sum(k.live_bytes), 0)
        FROM z_peak_stack AS k
        LEFT JOIN stack AS s ON s.stack_id = k.stack_id
        LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
        WHERE k.heap_id = w.heap_id
    ) AS share_ratio
FROM z_wrapper AS w
JOIN z_heap_place AS h ON h.heap_id = w.heap_id
WHERE share_ratio >= 0.5
ORDER BY share_ratio DESC, w.heap_id, w.function
LIMIT 1;
