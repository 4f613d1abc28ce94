-- diff_leaks.sql: which leaks are new, grown, smaller or gone between two databases?
-- Run it beside a database named base.db (or a link of that name):   sqlite3 run.db < queries/diff_leaks.sql
-- A site is what it is in diff.sql. npumem-diff runs this query.
-- Parameters: :base       the database to compare with (default: base.db in the current folder)
--             :rank       only processes of this rank (default: all, summed up)
--             :by_rank    1: a row for each rank (default 0)
--             :level      only heaps of this level (default: all)
--             :threshold  changes up to this many bytes are left out, but for new leaks (default 0)
--             :top        rows to return (default 30)
-- Columns:    change 'new', 'grown', 'smaller' or 'gone'; rank, NULL without :by_rank; level of the heaps; path,
--             function and line of the site; verdict of the leak in the run, or where it is gone in the base;
--             base_bytes, run_bytes bytes that leaked; change_bytes run minus base; run_count allocations
ATTACH coalesce(:base, 'base.db') AS base;
WITH
    -- begin diff_leaks_half run; main
    run_site (label, path, function, line) AS (
        SELECT
            frame.label,
            CASE
                WHEN frame.file IS NULL AND frame.module IS NULL THEN ''
                WHEN frame.file IS NULL
                    THEN substr(frame.module, length(rtrim(frame.module, replace(frame.module, '/', ''))) + 1)
                WHEN instr(frame.file, 'site-packages/') > 0
                    THEN substr(frame.file, instr(frame.file, 'site-packages/') + 14)
                WHEN instr(frame.file, 'dist-packages/') > 0
                    THEN substr(frame.file, instr(frame.file, 'dist-packages/') + 14)
                ELSE substr(frame.file, length(rtrim(frame.file, replace(frame.file, '/', ''))) + 1)
            END,
            CASE
                WHEN frame.file IS NULL AND frame.module IS NULL THEN frame.label
                ELSE coalesce(frame.function, printf('+0x%x', frame.offset))
            END,
            frame.line
        FROM main.frame
        WHERE frame.frame_id IN (
            SELECT min(f.frame_id)
            FROM main.frame AS f
            JOIN main.stack AS s ON s.site_frame_id = f.frame_id
            GROUP BY f.label
        )
    ),
    run_leak (rank, level, site, verdict, leak_bytes, leak_count) AS (
        SELECT
            rank,
            level,
            site,
            verdict,
            bytes,
            count
        FROM main.finding
        WHERE kind = 'leak' AND severity = 'fault'
    ),
    run_row (rank, level, path, function, line, verdict, bytes, leak_count) AS (
        SELECT
            v.rank,
            v.level,
            coalesce(run_site.path, v.site),
            coalesce(run_site.function, ''),
            run_site.line,
            v.verdict,
            v.leak_bytes,
            v.leak_count
        FROM run_leak AS v
        LEFT JOIN run_site ON run_site.label = v.site
        WHERE (:rank IS NULL OR v.rank = :rank) AND (:level IS NULL OR v.level = :level)
    ),
    -- end diff_leaks_half
    -- begin diff_leaks_half base; base
    base_site (label, path, function, line) AS (
        SELECT
            frame.label,
            CASE
                WHEN frame.file IS NULL AND frame.module IS NULL THEN ''
                WHEN frame.file IS NULL
                    THEN substr(frame.module, length(rtrim(frame.module, replace(frame.module, '/', ''))) + 1)
                WHEN instr(frame.file, 'site-packages/') > 0
                    THEN substr(frame.file, instr(frame.file, 'site-packages/') + 14)
                WHEN instr(frame.file, 'dist-packages/') > 0
                    THEN substr(frame.file, instr(frame.file, 'dist-packages/') + 14)
                ELSE substr(frame.file, length(rtrim(frame.file, replace(frame.file, '/', ''))) + 1)
            END,
            CASE
                WHEN frame.file IS NULL AND frame.module IS NULL THEN frame.label
                ELSE coalesce(frame.function, printf('+0x%x', frame.offset))
            END,
            frame.line
        FROM base.frame
        WHERE frame.frame_id IN (
            SELECT min(f.frame_id)
            FROM base.frame AS f
            JOIN base.stack AS s ON s.site_frame_id = f.frame_id
            GROUP BY f.label
        )
    ),
    base_leak (rank, level, site, verdict, leak_bytes, leak_count) AS (
        SELECT
            rank,
            level,
            site,
            verdict,
            bytes,
            count
        FROM base.finding
        WHERE kind = 'leak' AND severity = 'fault'
    ),
    base_row (rank, level, path, function, line, verdict, bytes, leak_count) AS (
        SELECT
            v.rank,
            v.level,
            coalesce(base_site.path, v.site),
            coalesce(base_site.function, ''),
            base_site.line,
            v.verdict,
            v.leak_bytes,
            v.leak_count
        FROM base_leak AS v
        LEFT JOIN base_site ON base_site.label = v.site
        WHERE (:rank IS NULL OR v.rank = :rank) AND (:level IS NULL OR v.level = :level)
    ),
    -- end diff_leaks_half
    change (rank, level, path, function, line, verdict, base_bytes, run_bytes, run_count) AS (
        SELECT
            CASE WHEN :by_rank = 1 THEN part.rank END,
            part.level,
            part.path,
            part.function,
            coalesce(min(part.run_line), min(part.base_line)),
            coalesce(min(part.run_verdict), min(part.base_verdict)),
            sum(part.base_bytes),
            sum(part.run_bytes),
            sum(part.run_count)
        FROM (
            SELECT
                rank, level, path, function, line AS run_line, NULL AS base_line, verdict AS run_verdict,
                NULL AS base_verdict, bytes AS run_bytes, 0 AS base_bytes, leak_count AS run_count
            FROM run_row
            UNION ALL
            SELECT rank, level, path, function, NULL, line, NULL, verdict, 0, bytes, 0 FROM base_row
        ) AS part
        GROUP BY CASE WHEN :by_rank = 1 THEN part.rank END, part.level, part.path, part.function
    )
SELECT
    CASE
        WHEN change.base_bytes = 0 THEN 'new'
        WHEN change.run_bytes = 0 THEN 'gone'
        WHEN change.run_bytes > change.base_bytes THEN 'grown'
        ELSE 'smaller'
    END AS change,
    change.rank AS rank,
    change.level AS level,
    change.path AS path,
    change.function AS function,
    change.line AS line,
    change.verdict AS verdict,
    change.base_bytes AS base_bytes,
    change.run_bytes AS run_bytes,
    change.run_bytes - change.base_bytes AS change_bytes,
    change.run_count AS run_count
FROM change
WHERE abs(change.run_bytes - change.base_bytes) > CASE WHEN change.base_bytes = 0 THEN 0 ELSE coalesce(:threshold, 0) END
ORDER BY
    change.base_bytes <> 0,
    change.run_bytes = 0,
    change.run_bytes - change.base_bytes DESC,
    change.level,
    change.rank,
    change.path,
    change.function
LIMIT coalesce(:top, 30);
DETACH base;
