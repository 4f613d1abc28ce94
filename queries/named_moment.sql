-- named_moment.sql: which moments have names that a query takes as :at, :from or :to?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; device number, NULL of host memory; heap name; moment 'begin', 'end', 'peak' or the text of a mark;
--             seq place in the order of events, -1 before the first; ns nanoseconds since the recording began, NULL where
--             unknown; mark_count marks of this text, NULL where it is none
SELECT
    v.pid AS pid,
    v.device AS device,
    v.heap AS heap,
    v.moment AS moment,
    v.seq AS seq,
    v.ns AS ns,
    v.mark_count AS mark_count
FROM z_named_moment AS v
WHERE v.pid IS coalesce(:pid, v.pid)
ORDER BY v.seq, v.moment, v.pid, v.heap_id
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
