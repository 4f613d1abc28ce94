-- What the peak was made of, by package.

CREATE VIEW z_peak_by_package (
    -- What was live at the peak of each heap, by the package and module whose code allocated it: the Python package, or the
    -- library, of the site; largest first within a heap. Sum over the modules for a package as a whole.
    --
    -- begin place
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device. NULL: host memory.
    device,
    -- Name of the heap.
    heap,
    -- Level of the heap.
    level,
    -- end place
    -- Name of an installed Python package ('transformers'), '(program)' for Python code outside site-packages, the name of the
    -- program or library for native code, '(source)' where only its source file is known, '(stack cut)', '(no stack)', or
    -- '(baseline)' for what was there before and has no stack.
    package,
    -- Of an installed package the module by its path ('transformers.models.llama.modeling_llama'); else the file without its
    -- folders. NULL: not known.
    module,
    -- Allocations that were live at the peak. Unit: allocations.
    live_count,
    -- Their size. Unit: bytes.
    live_bytes,
    -- live_bytes over those of the whole heap: the shares of a heap sum to 1. Unit: 0 to 1.
    share_ratio
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    g.package,
    g.module,
    sum(g.live_count),
    sum(g.live_bytes),
    CASE WHEN h.peak_bytes > 0 THEN CAST(sum(g.live_bytes) AS REAL) / h.peak_bytes END
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
GROUP BY g.heap_id, g.package, g.module
ORDER BY g.heap_id, sum(g.live_bytes) DESC, g.package, g.module;
