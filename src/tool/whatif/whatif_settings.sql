-- whatif_settings.sql: variables of the environment.
SELECT
    process_id,
    name,
    value
FROM z_process_environment
WHERE source = 'environment';
