LIMIT CASE
    -- begin unknown_parameter $1
    WHEN coalesce(:at, :moment) IS NOT NULL
        AND coalesce(:at, :moment) NOT IN (
            SELECT x.name FROM z_moment_kind AS x
            UNION ALL
            SELECT coalesce(y.name, '') FROM moment AS y WHERE y.kind = 3
        )
        THEN 'error: unknown moment'
    ELSE -1
END;
