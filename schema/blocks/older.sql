LEFT JOIN (
    SELECT
        q.heap_id,
        z.site_frame_id,
        sum(q.live_count) AS live_count,
        sum(q.live_bytes) AS live_bytes
    FROM z_older_blocks AS q
    JOIN stack AS z ON z.stack_id = q.stack_id
    GROUP BY q.heap_id, z.site_frame_id
) AS older ON older.heap_id = $1.heap_id AND older.site_frame_id IS $1.site_frame_id
