-- catalog_rows.sql: the map of a database, as it stands.
SELECT
    name,
    question,
    rows,
    is_large
FROM catalog;
