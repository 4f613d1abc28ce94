-- What the database itself is.

CREATE TABLE meta (
    -- Facts about the database itself, one a row.
    --
    -- Name of the fact: schema_version, tool, tool_version; site_rules_version: of what a site is, beside table plumbing (not
    -- there: 1).
    key TEXT PRIMARY KEY,
    -- Its value, as text.
    value TEXT NOT NULL
);
