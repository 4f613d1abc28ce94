-- What there is: the map of the database.

CREATE VIEW catalog (
    -- The map of this database: every view and table with what it answers, sorted by what to read first. What begins with an
    -- underscore is what these are made of: it may change with any version, and is not listed.
    --
    -- Name of the view or table.
    name,
    -- 'view' or 'table'. Read the views: tables are what they are made of.
    kind,
    -- What it answers: the first sentence of its own comment, which .schema shows whole.
    question,
    -- Rows that it has here. Unit: rows. NULL: counting them would be slow.
    rows,
    -- 1: it may have as many rows as there were allocations, copies or calls: ask with a WHERE or a LIMIT; 0: not.
    is_large
) AS
WITH
    -- What to read first, in this order; then the other views in the order of their topics, then the tables in theirs.
    first (place, name) AS (
        SELECT 1, 'completeness'
        UNION ALL SELECT 2, 'health'
        UNION ALL SELECT 3, 'leak_by_site'
        UNION ALL SELECT 4, 'peak'
        UNION ALL SELECT 5, 'peak_by_site'
        UNION ALL SELECT 6, 'device_peak'
        UNION ALL SELECT 7, 'device_memory'
        UNION ALL SELECT 8, 'out_of_memory'
        UNION ALL SELECT 9, 'misuse'
        UNION ALL SELECT 10, 'pool_summary'
        UNION ALL SELECT 11, 'pool_by'
        UNION ALL SELECT 12, 'suspect_by_site'
        UNION ALL SELECT 13, 'outstanding_by_site'
        UNION ALL SELECT 14, 'forecast'
        UNION ALL SELECT 15, 'step_total'
        UNION ALL SELECT 16, 'timeline'
        UNION ALL SELECT 17, 'rank_imbalance'
    ),
    large (name) AS (
        SELECT 'allocation'
        UNION ALL SELECT 'allocation_detail'
        UNION ALL SELECT 'copy'
        UNION ALL SELECT 'leak'
        UNION ALL SELECT 'operation'
        UNION ALL SELECT 'outstanding'
        UNION ALL SELECT 'stack_text'
    ),
    counted (name, row_count) AS (
        -- The longest views, which SQLite takes long to understand, are not counted; one by the table that has its rows.
        SELECT
            'out_of_memory',
            (SELECT count(*) FROM _out_of_memory_chain)
        UNION ALL SELECT 'device_memory', NULL
        UNION ALL SELECT 'fragmentation_blocker', NULL
        UNION ALL SELECT 'health', NULL
        UNION ALL SELECT 'pool_by', NULL
        UNION ALL SELECT 'pool_summary', NULL
        UNION ALL SELECT 'rank_imbalance', NULL
        UNION ALL SELECT 'zero_copy', NULL
        -- The build puts a line here for each table and view whose rows are quickly counted.
    ),
    made (name, kind, place, start, text) AS (
        SELECT
            m.name,
            m.type,
            m.rowid,
            instr(m.sql, '-- ') + 3,
            m.sql
        FROM sqlite_master AS m
        WHERE m.type IN ('view', 'table') AND substr(m.name, 1, 1) <> '_' AND instr(m.sql, '-- ') > 0
    ),
    described (name, kind, place, comment) AS (
        SELECT
            d.name,
            d.kind,
            d.place,
            replace(
                substr(d.text, d.start, instr(substr(d.text, d.start), CAST(x'0a' AS TEXT) || '    --' || CAST(x'0a' AS TEXT)) - 1),
                CAST(x'0a' AS TEXT) || '    -- ',
                ' '
            )
        FROM made AS d
    )
SELECT
    c.name,
    c.kind,
    CASE
        WHEN instr(c.comment, '. ') > 0 THEN substr(c.comment, 1, instr(c.comment, '. ') - 1)
        ELSE rtrim(c.comment, '.')
    END,
    n.row_count,
    c.name IN (SELECT large.name FROM large)
FROM described AS c
LEFT JOIN first AS f ON f.name = c.name
LEFT JOIN counted AS n ON n.name = c.name
ORDER BY f.place IS NULL, f.place, c.kind = 'table', c.place;
