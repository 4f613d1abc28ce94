-- column_nulls.sql: which columns of a table may be NULL.
SELECT
    cid AS place_number,
    "notnull" = 0 AS is_nullable
FROM pragma_table_info(:table_name)
ORDER BY cid;
