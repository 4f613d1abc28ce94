-- perfetto_usage.sql: how heaps were used over time; where times are not known an event is a microsecond.
SELECT
    heap_id,
    max_seq < last_seq AS is_max_before,
    max(coalesce(max_ns, max_seq * 1000, 0), 0) AS max_ns,
    max_live_bytes,
    max(coalesce(last_ns, last_seq * 1000, 0), 0) AS last_ns,
    live_bytes,
    reserved_bytes
FROM usage
ORDER BY heap_id, last_seq;
