-- chart_usage.sql: how a heap was used over time.
SELECT
    coalesce(CASE WHEN :has_times THEN max_ns ELSE max_seq END, 0) AS max_number,
    max_live_bytes,
    coalesce(CASE WHEN :has_times THEN last_ns ELSE last_seq END, 0) AS last_number,
    live_bytes,
    reserved_bytes
FROM usage
WHERE heap_id = :heap_id
ORDER BY last_seq;
