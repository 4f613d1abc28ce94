-- copies_to_improve.sql: which transfers between host and device made the program wait, and what would spare that?
-- Parameters: :top    rows to return (default 20)
-- Columns:    pid process; device number; kind direction; site file, line and function; advice 'queue it' (its host side
--             is pinned or registered, so that it could be asynchronous), 'pin it' (it is asynchronous already, but from or
--             to memory that is not pinned, where the call may wait nevertheless), 'pin it and queue it', 'none' (it is
--             queued from or to pinned memory); copy_count copies that did not fail; size_bytes bytes; wait_ns time in the
--             calls, nanoseconds, NULL where not known; pinned_count of the copies whose host side lay in memory that the
--             program had pinned or registered. A place counts as pinned when all its copies do
SELECT
    process.pid AS pid,
    g.device AS device,
    k.name AS kind,
    coalesce(f.label, '(no stack)') AS site,
    CASE
        WHEN g.pinned_count = g.copy_count THEN CASE WHEN g.is_async = 1 THEN 'none' ELSE 'queue it' END
        WHEN g.is_async = 1 THEN 'pin it'
        ELSE 'pin it and queue it'
    END AS advice,
    g.copy_count AS copy_count,
    g.size_bytes AS size_bytes,
    g.wait_ns AS wait_ns,
    g.pinned_count AS pinned_count
FROM (
    SELECT
        c.process_id,
        coalesce(d.physical_ordinal, d.ordinal) AS device,
        c.kind,
        c.is_async,
        s.site_frame_id,
        sum(c.host_count) AS copy_count,
        sum(c.host_bytes) AS size_bytes,
        sum(c.host_ns) AS wait_ns,
        sum(c.pinned_count) AS pinned_count
    FROM z_copy_sum AS c
    LEFT JOIN device AS d ON d.device_id = c.device_id
    LEFT JOIN stack AS s ON s.stack_id = c.stack_id
    WHERE c.host_count > 0
    GROUP BY c.process_id, coalesce(d.physical_ordinal, d.ordinal), c.kind, c.is_async, s.site_frame_id
) AS g
LEFT JOIN process ON process.process_id = g.process_id
LEFT JOIN copy_kind AS k ON k.kind = g.kind
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.wait_ns DESC, g.size_bytes DESC, g.process_id, g.device, g.kind, g.is_async, g.site_frame_id
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
