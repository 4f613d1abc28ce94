-- operation_names.sql: all operations with their names.
SELECT
    operation_id,
    name
FROM operation
ORDER BY operation_id;
