-- page_tables.sql: the tables of a database, by name.
SELECT name
FROM main.sqlite_master
WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
ORDER BY name;
