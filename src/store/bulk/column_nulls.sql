-- column_nulls.sql: which columns of a table may be NULL, and which a row may end without: they are then 0, or NULL.
SELECT
    cid AS place_number,
    "notnull" = 0 AS is_nullable,
    dflt_value IS NOT NULL AS is_else_zero
FROM pragma_table_info(:table_name)
ORDER BY cid;
