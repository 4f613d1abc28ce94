-- difference.sql: which sites grew or shrank between two databases, at the peak, largest change first.
-- Run it beside a database named base.db (or a link of that name):   sqlite3 run.db < queries/difference.sql
-- Parameters: :base   the database to compare with (default: base.db in the current folder)
--             :top    rows to return (default 30)
-- Columns:    level of the heaps; site file, line and function, or '(stack cut)' for all that has none; base_bytes,
--             run_bytes live at the peak, bytes, over all processes and devices; change_bytes run minus base, NULL for
--             '(stack cut)', which is not compared
ATTACH coalesce(:base, 'base.db') AS base;
SELECT
    both.level AS level,
    both.site AS site,
    sum(both.base_bytes) AS base_bytes,
    sum(both.run_bytes) AS run_bytes,
    CASE WHEN both.site <> '(stack cut)' THEN sum(both.run_bytes) - sum(both.base_bytes) END AS change_bytes
FROM (
    SELECT
        peaks.level,
        CASE WHEN substr(peaks.site, 1, 11) = '(stack cut)' THEN '(stack cut)' ELSE peaks.site END AS site,
        peaks.run_bytes,
        peaks.base_bytes
    FROM (
        SELECT level, site, live_bytes AS run_bytes, 0 AS base_bytes FROM main.peak_by_site
        UNION ALL
        SELECT level, site, 0, live_bytes FROM base.peak_by_site
    ) AS peaks
) AS both
GROUP BY both.level, both.site
HAVING both.site = '(stack cut)' OR sum(both.run_bytes) <> sum(both.base_bytes)
ORDER BY both.site = '(stack cut)', abs(sum(both.run_bytes) - sum(both.base_bytes)) DESC, both.level, both.site
LIMIT coalesce(:top, 30);
DETACH base;
