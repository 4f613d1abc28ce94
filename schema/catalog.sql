-- What there is: the map of the database. What it says of a table or view stands in a line above its CREATE statement:
--     -- catalog: first N                  read it as the Nth
--     -- catalog: large                    it may have a row for each event; its rows are not counted here,
--     -- catalog: not counted              nor are those of a view that SQLite takes long to understand,
--     -- catalog: counted by TABLE         or by the table that has them
--     -- catalog: row an event             a table with as many rows: it is loaded and checked in a way of its own
--     -- catalog: in csv                   it is among the files that people ask for; in csv all: a table that is, as every view,
--                                          with --csv-all; not in csv: never, for it would be many times as large as all others

-- catalog: not counted, in csv
CREATE VIEW catalog (
    -- The map of this database: every view and table with what it answers, sorted by what to read first. What begins with
    -- z_ is what these are made of: it may change with any version, and is not listed.
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
    -- What to read first, in this order; then the other views by name, then the tables.
    first (place, name) AS (
        -- The build puts a line here for each that says `first N`.
    ),
    large (name) AS (
        -- The build puts a line here for each that says `large`.
    ),
    counted (name, row_count) AS (
        -- The build puts a line here for each table and view.
    ),
    made (name, kind, start, text) AS (
        SELECT
            m.name,
            m.type,
            instr(m.sql, '-- ') + 3,
            m.sql
        FROM sqlite_master AS m
        WHERE m.type IN ('view', 'table') AND substr(m.name, 1, 2) <> 'z_' AND instr(m.sql, '-- ') > 0
    ),
    described (name, kind, comment) AS (
        SELECT
            d.name,
            d.kind,
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
ORDER BY f.place IS NULL, f.place, c.kind = 'table', c.name;
