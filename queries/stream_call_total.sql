-- stream_call_total.sql: which calls were made about streams and events, how often, and what did they cost, most time first?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; device number, NULL where unknown; kind what was asked for; stream number or handle, NULL where there
--             is none; call_count calls; cost_ns nanoseconds in them, of a synchronisation those waited, NULL where unknown;
--             error_count calls that failed
SELECT
    process.pid AS pid,
    coalesce(d.physical_ordinal, d.ordinal) AS device,
    k.name AS kind,
    g.stream AS stream,
    g.call_count AS call_count,
    g.cost_ns AS cost_ns,
    g.error_count AS error_count
FROM z_stream_call_sum AS g
LEFT JOIN process ON process.process_id = g.process_id
LEFT JOIN device AS d ON d.device_id = g.device_id
LEFT JOIN z_stream_call_kind AS k ON k.kind = g.kind
WHERE process.pid IS coalesce(:pid, process.pid)
ORDER BY g.cost_ns IS NULL, g.cost_ns DESC, k.name, process.pid, coalesce(d.physical_ordinal, d.ordinal), g.stream
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
