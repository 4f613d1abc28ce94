-- peak_by_package.sql: what was live at the peak of each heap, by the package and module whose code allocated it, largest first within a heap?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; device number, NULL of host memory; heap name; package an installed Python package, '(program)' for
--             Python code outside site-packages, a program or library, '(source)', '(stack cut)', '(no stack)' or '(baseline)';
--             module by its path, or the file, NULL where unknown; live_count allocations; live_bytes bytes; share_ratio of the
--             heap, 0 to 1
SELECT
    v.pid AS pid,
    v.device AS device,
    v.heap AS heap,
    v.package AS package,
    v.module AS module,
    v.live_count AS live_count,
    v.live_bytes AS live_bytes,
    v.share_ratio AS share_ratio
FROM z_peak_by_package AS v
WHERE v.pid IS coalesce(:pid, v.pid)
ORDER BY v.pid, v.device, v.heap, v.live_bytes DESC, v.package, v.module
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
