-- wrapper.sql: which functions look like wrappers through which the program allocates?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; heap name; function its name; rule the line for a file of npumem-ingest --site-rules that makes it
--             plumbing, so that its callers are the sites
SELECT
    p.pid AS pid,
    p.heap AS heap,
    w.function AS function,
    'function ' || w.function AS rule
FROM z_wrapper AS w
JOIN z_heap_place AS p ON p.heap_id = w.heap_id
WHERE p.pid IS coalesce(:pid, p.pid)
ORDER BY p.pid, w.heap_id, w.function
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
