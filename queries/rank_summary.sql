-- rank_summary.sql: what did each rank need at most, and how did it end, fullest first?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    rank in the job, host machine, pid process, NULL where unknown; device the fullest of its devices; peak_bytes,
--             capacity_bytes bytes, NULL where unknown; share_ratio of the two, 0 to 1; step, ns of the peak, nanoseconds, NULL
--             where unknown; pool_bytes, workspace_bytes, program_bytes, module_bytes what it was made of, bytes; end_kind exit,
--             signal, exec or running; end_status exit status or signal, NULL where unknown; failure why it failed: 'out of
--             memory', 'resources', 'signal' or 'status', NULL where it did not; failure_order among those of its job: 'first',
--             'same time', 'followed' or 'not known', NULL where it did not fail
SELECT
    v.rank AS rank,
    v.host AS host,
    v.pid AS pid,
    v.device AS device,
    v.peak_bytes AS peak_bytes,
    v.capacity_bytes AS capacity_bytes,
    v.share_ratio AS share_ratio,
    v.step AS step,
    v.ns AS ns,
    v.pool_bytes AS pool_bytes,
    v.workspace_bytes AS workspace_bytes,
    v.program_bytes AS program_bytes,
    v.module_bytes AS module_bytes,
    v.end_kind AS end_kind,
    v.end_status AS end_status,
    v.failure AS failure,
    v.failure_order AS failure_order
FROM z_rank_summary AS v
WHERE v.pid IS coalesce(:pid, v.pid)
ORDER BY v.peak_bytes DESC, v.rank, v.pid, v.device
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
