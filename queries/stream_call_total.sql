-- stream_call_total.sql: which calls were made about streams and events, how often, and what did they cost, most time first?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; device number, NULL where unknown; kind what was asked for; stream number or handle, NULL where there
--             is none; call_count calls; cost_ns nanoseconds in them, of a synchronisation those waited, NULL where unknown;
--             error_count calls that failed
SELECT
    v.pid AS pid,
    v.device AS device,
    v.kind AS kind,
    v.stream AS stream,
    v.call_count AS call_count,
    v.cost_ns AS cost_ns,
    v.error_count AS error_count
FROM z_stream_call_total AS v
WHERE v.pid IS coalesce(:pid, v.pid)
ORDER BY v.cost_ns IS NULL, v.cost_ns DESC, v.kind, v.pid, v.device, v.stream
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
