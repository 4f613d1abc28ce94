-- site_levels.sql: what was live of each site from which step on. A site that is not known is 0.
SELECT
    heap_id,
    coalesce(site_frame_id, 0) AS site_id,
    generation,
    live_bytes,
    live_count
FROM z_site_step
ORDER BY heap_id, site_frame_id, generation;
