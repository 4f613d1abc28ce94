-- device_memory_at_peak.sql: what the memory of each device was made of when it was fullest, or at other moments.
-- Parameters: :at     which moments: 'device peak', 'reserve', 'failure', 'end', or the text of a mark (default 'device peak')
--             :moment the same
-- Columns:    pid process; device number; seq place of the moment in the order of events; component as in view
--             device_memory; heap name of the pool or NULL; bytes bytes; used_share_ratio bytes over what the device says
--             is in use, or NULL; is_estimate 1: not certain
SELECT
    c.pid AS pid,
    c.device AS device,
    c.seq AS seq,
    c.component AS component,
    c.heap AS heap,
    c.bytes AS bytes,
    (
        SELECT CAST(c.bytes AS REAL) / d.used_bytes
        FROM z_device_moment AS d
        WHERE d.moment_id = c.moment_id AND d.pid IS c.pid AND d.device IS c.device AND d.used_bytes > 0
    ) AS used_share_ratio,
    c.is_estimate AS is_estimate
FROM device_memory AS c
WHERE c.moment = coalesce(:at, :moment, 'device peak') AND c.moment_kind <> 'peak' AND c.bytes <> 0
ORDER BY c.host, c.device, c.moment_id, c.pid, c.component = 'DEVICE USED', c.bytes DESC, c.component, c.heap
-- begin guard_moment coalesce(:at, :moment)
LIMIT CASE
    WHEN coalesce(:at, :moment) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    WHEN coalesce(:at, :moment) IS NOT NULL
        AND coalesce(:at, :moment) NOT IN (
            SELECT x.name FROM z_moment_kind AS x
            UNION ALL
            SELECT coalesce(y.name, '') FROM moment AS y WHERE y.kind = 3
        )
        THEN 'error: unknown moment'
    ELSE -1
END;
-- end guard_moment
