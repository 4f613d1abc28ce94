WHEN $1 IS NULL
    AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
    THEN 'error: unknown parameter'
