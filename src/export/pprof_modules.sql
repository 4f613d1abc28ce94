-- pprof_modules.sql: a library or program in which frames are.
SELECT
    path,
    build_id AS build,
    address,
    size_bytes
FROM z_module
WHERE module_id = :module_id;
