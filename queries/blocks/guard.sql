LIMIT CASE
    -- begin unknown_parameter $1
    ELSE $2
END;
