-- check_gaps.sql: what came and went while it was paused, or was not kept: processes of whose pauses only what was left
-- at the end is known, and events.
SELECT
    (SELECT count(DISTINCT process_id) FROM main.z_pause WHERE is_memory_told IS NOT 1) AS paused_count,
    (SELECT total(events_unkept) FROM main.input) AS unkept_count;
