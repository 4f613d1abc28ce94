-- peak_by_package.sql: what was live at the peak of each heap, by the package and module whose code allocated it, largest first within a heap?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; device number, NULL of host memory; heap name; package an installed Python package, '(program)' for
--             Python code outside site-packages, a program or library, '(source)', '(stack cut)', '(no stack)' or '(baseline)';
--             module by its path, or the file, NULL where unknown; live_count allocations; live_bytes bytes; share_ratio of the
--             heap, 0 to 1
SELECT
    p.pid AS pid,
    p.device AS device,
    p.heap AS heap,
    g.package AS package,
    g.module AS module,
    sum(g.live_count) AS live_count,
    sum(g.live_bytes) AS live_bytes,
    CASE WHEN h.peak_bytes > 0 THEN CAST(sum(g.live_bytes) AS REAL) / h.peak_bytes END AS share_ratio
FROM (
    SELECT
        n.heap_id,
        CASE
            WHEN n.is_baseline = 1 THEN '(baseline)'
            WHEN n.frame_id IS NULL THEN '(no stack)'
            WHEN n.is_cut = 1 THEN '(stack cut)'
            WHEN n.inner IS NOT NULL
                THEN CASE WHEN instr(n.inner, '/') > 0 THEN substr(n.inner, 1, instr(n.inner, '/') - 1)
                    ELSE replace(n.inner, '.py', '') END
            WHEN n.is_python = 1 THEN '(program)'
            ELSE coalesce(replace(n.library, rtrim(n.library, replace(n.library, '/', '')), ''), '(source)')
        END AS package,
        CASE
            WHEN n.is_baseline = 1 OR n.is_cut = 1 THEN NULL
            WHEN n.inner IS NOT NULL THEN replace(replace(replace(n.inner, '/__init__.py', ''), '.py', ''), '/', '.')
            ELSE replace(n.file, rtrim(n.file, replace(n.file, '/', '')), '')
        END AS module,
        n.live_count,
        n.live_bytes
    FROM (
        SELECT
            k.heap_id,
            k.is_baseline,
            f.frame_id,
            f.is_cut,
            f.file,
            f.module AS library,
            coalesce(substr(f.module, 1, 6) = 'python' OR substr(f.file, -3) = '.py', 0) AS is_python,
            CASE
                WHEN instr(f.file, '/site-packages/') > 0
                    THEN substr(f.file, instr(f.file, '/site-packages/') + 15)
                WHEN instr(f.file, '/dist-packages/') > 0
                    THEN substr(f.file, instr(f.file, '/dist-packages/') + 15)
            END AS inner,
            k.live_count,
            k.live_bytes
        FROM z_peak_stack AS k
        LEFT JOIN stack AS s ON s.stack_id = k.stack_id
        LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
    ) AS n
) AS g
JOIN z_heap_sum AS h ON h.heap_id = g.heap_id
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
WHERE p.pid IS coalesce(:pid, p.pid)
GROUP BY g.heap_id, g.package, g.module
ORDER BY p.pid, p.device, p.heap, sum(g.live_bytes) DESC, g.package, g.module
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
