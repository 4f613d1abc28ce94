SELECT 'error: parameters are set, but none of them is $1'
WHERE coalesce($2) IS NULL
    AND EXISTS (SELECT 1 FROM sqlite_temp_master AS m WHERE m.name = 'sqlite_parameters')
